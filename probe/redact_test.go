package probe

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/probe/stamp"
)

func testRedactor(t *testing.T) *redactor {
	t.Helper()
	u, err := url.Parse("http://alice:s3cr+t%2Fpw@host/v1?sig=abcdef12345&x=1")
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{"X-Api-Key": {"hdr-key-777"}, "Authorization": {"Bearer bearer-888"}, "X-Trace": {"trace-999"}}
	return newRedactor(u, "sk-canary", h)
}

func TestRedactorLine(t *testing.T) {
	r := testRedactor(t)
	for _, c := range []struct{ name, in, want string }{
		{"plain", "connection refused", "connection refused"},
		{"key", "bad key sk-canary given", "bad key [redacted] given"},
		{"password", "auth s3cr+t/pw failed", "auth [redacted] failed"},
		{"password escaped", "auth s3cr%2Bt%2Fpw failed", "auth [redacted] failed"},
		{"basic", "Basic YWxpY2U6czNjcit0L3B3", "Basic [redacted]"},
		{"query value", "no abcdef12345 here", "no [redacted] here"},
		{"header", "got hdr-key-777", "got [redacted]"},
		{"bearer", "token bearer-888 expired", "token [redacted] expired"},
		{"harmless header", "trace-999", "trace-999"},
		{"one line", "a\r\n\tb\n", "a b"},
		{"escape sequence", "\x1b[31mred\x1b[0m", "[31mred [0m"},
		{"bidi override", "a\u202eb", "ab"},
		{"broken utf8", "a\xffb", "ab"},
		{"key with a hole", "sk-\u200bcanary", "[redacted]"},
		{"line separator", "a\u2028b", "a b"},
		{"cut short", "the key sk-can…", "the key [redacted]"},
		{"cut short in the middle", "(the key sk-can…) is wrong", "(the key [redacted]) is wrong"},
		{"ends early", `the key "sk-canar`, `the key "…`},
		{"ends early, in quotes", `the key "sk-canar..."`, `the key "[redacted]"`},
		{"a short beginning", "ask sk-", "ask sk-"},
		{"cut by the line", strings.Repeat("x ", 145) + "sk-can\u200bary", strings.Repeat("x ", 145) + "…"},
		{"scheme", "wrong Bearer bearer-888", "wrong Bearer [redacted]"},
		{"scheme at the end", "no Bearer", "no Bearer"},
		{"masked", "bad key canary-123***** given", "bad key canary-123***** given"},
		{"its end masked", "bad key sk-cana** given", "bad key [redacted] given"},
		{"its middle masked", "bad key hdr-key****777, sorry", "bad key [redacted], sorry"},
		{"masked with dots", "bad key hdr-key••••• given", "bad key [redacted] given"},
		{"masked by an ellipsis", "key bearer-8...88 is bad", "key [redacted] is bad"},
		{"too short to be one", "ask sk-*** for it", "ask sk-*** for it"},
		{"not masked", "the header hdr-keys. And", "the header hdr-keys. And"},
		{"a dash as in URLs", "key sk%2Dcanary is bad", "key [redacted] is bad"},
		{"a dash as in HTML", "key sk&#45;canary or sk&#x2d;canary is bad", "key [redacted] or [redacted] is bad"},
		{"a dash as in JSON", `key sk\u002dcanary is bad`, "key [redacted] is bad"},
		{"escaped twice", "key sk%252Dcanary and sk&amp;#45;canary are bad", "key [redacted] and [redacted] are bad"},
		{"each byte escaped", "%73%6b%2d%63%61%6e%61%72%79", "[redacted]"},
		{"escaped and masked", "key sk%2Dcana**", "key [redacted]"},
		{"escapes of anything else", "100%25 &amp; \\u0041", "100%25 &amp; \\u0041"},
		{"overlapping", "sk-canarysk-canary", "[redacted][redacted]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.line(c.in); got != c.want {
				t.Errorf("line(%q) = %q, want %q", c.in, got, c.want)
			}
		})
	}
}

func TestRedactorKeepsLinesShort(t *testing.T) {
	r := testRedactor(t)
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.String().Draw(t, "in") + strings.Repeat("ä", rapid.IntRange(0, 300).Draw(t, "n"))
		out := r.line(in)
		if len(out) > maxLine || !utf8.ValidString(out) || strings.ContainsAny(out, "\n\r\x1b\x00") {
			t.Fatalf("line(%q) = %q of %d bytes", in, out, len(out))
		}
	})
}

func FuzzRedactor(f *testing.F) {
	for _, s := range []string{"", "sk-canary", "sk-\x00canary", "\xff\xfe", "Bearer bearer-888\n"} {
		f.Add(s)
	}
	u, _ := url.Parse("http://alice:password@host/")
	r := newRedactor(u, "sk-canary", nil)
	f.Fuzz(func(t *testing.T, s string) {
		if out := r.line(s); strings.Contains(out, "sk-canary") || strings.Contains(out, "password") || len(out) > maxLine+len(redacted) {
			t.Errorf("line(%q) = %q", s, out)
		}
	})
}

func TestRedactorKnowsHeadersAndUserinfo(t *testing.T) {
	t.Setenv("REDACT_TEST_KEY", "env-key-1")
	for _, c := range []struct {
		name, url string
		headers   []string
		secrets   []string
	}{
		{"user and password", "http://bob:hunter22@127.0.0.1:1", nil, []string{"hunter22", "Ym9iOmh1bnRlcjIy", "env-key-1"}},
		{"user alone", "http://lonely-user@127.0.0.1:1", nil, []string{"lonely-user", "bG9uZWx5LXVzZXI6"}},
		{"own header", "http://127.0.0.1:1", []string{"X-Api-Key: own-777"}, []string{"own-777"}},
		{"own authorization", "http://127.0.0.1:1", []string{"Authorization: Token own-888"}, []string{"own-888"}},
		{"cookie", "http://127.0.0.1:1", []string{"Cookie: theme=dark; sid=abcdef-9999"}, []string{"abcdef-9999"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(c.url, 1)
			target := event.TargetConfig{URL: c.url, Headers: c.headers, KeyEnv: "REDACT_TEST_KEY"}
			ep, err := newEndpoint(1, target, &cfg, time.Second, 1, stamp.NewClock())
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range c.secrets {
				if got := ep.red.line("it is " + s + "."); got != "it is [redacted]." {
					t.Errorf("with %q: %q", s, got)
				}
			}
			for _, v := range ep.header.Values("Authorization") {
				if _, token, _ := strings.Cut(v, " "); !ep.red.finds(token) {
					t.Errorf("%q is no secret", v)
				}
			}
		})
	}
}
