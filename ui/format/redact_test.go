package format

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRedact(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"nothing to hide", "http://gpu07:8000/v1", "http://gpu07:8000/v1"},
		{"userinfo", "https://ann:s3cret@gpu07/v1", "https://gpu07/v1"},
		{"user alone", "https://token@gpu07", "https://gpu07"},
		{"query", "http://h:1/v1?api-key=s3cret", "http://h:1/v1"},
		{"fragment", "http://h:1/v1#s3cret", "http://h:1/v1"},
		{"at sign in the path", "http://h:1/models/@cf/x", "http://h:1/models/@cf/x"},
		{"slash in the password", "http://ann:s3/cret@h:1/v1", "http://h:1/v1"},
		{"question mark in the password", "http://ann:s3?cret@h:1/v1", "http://[hidden]"},
		{"two at signs", "http://ann:s3@cret@h:1/v1", "http://h:1/v1"},
		{"backslash", `http://ann:s3cret\@h`, "http://h"},
		{"IPv6", "http://[::1]:8000/v1", "http://[::1]:8000/v1"},
		{"IPv6 with userinfo", "http://a:b@[::1]:8000/v1", "http://[::1]:8000/v1"},
		{"no scheme", "ann:s3cret@h:1", "h:1"},
		{"demo", "demo:article", "demo:article"},
		{"empty", "", ""},
	}
	for _, c := range cases {
		if got := Redact(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	const msg = `Post "http://ann:s3cret@h:1/v1?key=s3cret": dial tcp: see https://h:2/x?k=s3cret, or http://h:3.`
	const want = `Post "http://h:1/v1": dial tcp: see https://h:2/x or http://h:3.`
	if got := RedactText(msg); strings.Contains(got, "s3cret") || !strings.HasPrefix(got, want[:30]) || !strings.HasSuffix(got, "or http://h:3.") {
		t.Errorf("%q", got)
	}
}

func TestRedactProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.StringMatching(`[A-Z]{6}[^/?#\\\s"'<>`+"`"+`]{0,6}`).Draw(t, "secret")
		path := rapid.StringMatching(`(/[a-z0-9]{1,5}){0,3}`).Draw(t, "path")
		url := "http://ann:" + secret + "@gpu07:8000" + path + "?k=" + secret
		if got := Redact(url); got != "http://gpu07:8000"+path {
			t.Fatalf("%q redacted is %q", url, got)
		}
		if got := RedactText("get " + url + " failed"); got != "get http://gpu07:8000"+path+" failed" {
			t.Fatalf("%q in a text is %q", url, got)
		}
		any := rapid.String().Draw(t, "any")
		once := Redact(any)
		if Redact(once) != once {
			t.Fatalf("%q redacted twice: %q, then %q", any, once, Redact(once))
		}
	})
}
