package probe

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
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
