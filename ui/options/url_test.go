package options

import (
	"net/url"
	"strings"
	"testing"
)

func TestCheckURL(t *testing.T) {
	long := "http://h/" + strings.Repeat("a", maxURL)
	cases := []struct{ in, want, err string }{
		{"http://localhost:8000", "http://localhost:8000", ""},
		{"HTTPS://Gpu07/v1/", "https://Gpu07/v1", ""},
		{"localhost", "http://localhost", ""},
		{"localhost:8000", "http://localhost:8000", ""},
		{"localhost:8000/v1", "http://localhost:8000/v1", ""},
		{"10.0.0.1", "http://10.0.0.1", ""},
		{"gpu07.example.com/v1//", "http://gpu07.example.com/v1", ""},
		{"[::1]:8000", "http://[::1]:8000", ""},
		{"http://[fe80::1%25eth0]:8000", "http://[fe80::1%25eth0]:8000", ""},
		{"ann:pw@gpu07:8000", "http://ann:pw@gpu07:8000", ""},
		{"https://ann:pw@gpu07/v1?api-version=1#frag", "https://ann:pw@gpu07/v1?api-version=1", ""},
		{"http://h:1/a%2Fb/", "http://h:1/a%2Fb", ""},
		{"demo:article", "demo:article", ""},
		{"demo:", "demo:tour", ""},
		{"", "", "the URL is empty: give one such as http://localhost:8000, or demo:tour"},
		{long, "", "the URL has 2057 bytes: at most 2048 are taken"},
		{"ftp://x", "", "'ftp://x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
		{"unix:///tmp/x", "unix:///tmp/x", ""},
		{"UNIX:///tmp/x/", "unix:///tmp/x", ""},
		{"unix:///run/x.sock:/deep/v1/?k=1", "unix:///run/x.sock:/deep/v1?k=1", ""},
		{"unix://tmp/x", "", "'unix://tmp/x': a unix socket has an absolute path, e.g. unix:///run/engine.sock"},
		{"unix:///", "", "'unix:///': a unix socket has an absolute path, e.g. unix:///run/engine.sock"},
		{"unix://:/v1", "", "'unix://:/v1': a unix socket has an absolute path, e.g. unix:///run/engine.sock"},
		{"unix:/tmp/x", "", "'unix:/tmp/x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
		{"demo://x", "", "'demo://x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
		{"mailto:x", "", "'mailto:x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
		{"file:/x", "", "'file:/x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
		{"http:/x", "", "'http:/x': two slashes are missing, e.g. http://localhost:8000"},
		{"http://", "", "'http://': the host is missing, e.g. http://localhost:8000"},
		{"http://:8000", "", "'http://:8000': the host is missing, e.g. http://localhost:8000"},
		{"http:///v1", "", "'http:///v1': the host is missing, e.g. http://localhost:8000"},
		{"http://h:", "", "'http://h:': the port is missing after the colon, e.g. http://localhost:8000"},
		{"http://h:0", "", "'http://h:0': a port is a number from 1 to 65535"},
		{"http://h:65536", "", "'http://h:65536': a port is a number from 1 to 65535"},
		{"http://h:abc", "", "'http://[hidden]': not a URL: a port is a number from 1 to 65535"},
		{"h:-1", "", "'h:-1': not a URL: a port is a number from 1 to 65535"},
		{"http://a b", "", "'http://a b': a URL has no blanks or control characters in it"},
		{"http://a\x1b[31m", "", "'http://a': a URL has no blanks or control characters in it"},
		{"::1", "", "'::1': an IPv6 address stands in brackets, e.g. http://[::1]:8000"},
		{"http://%zz", "", "'http://%zz': not a URL: a % is not followed by two hexadecimal digits"},
		{"http://a<b", "", "'http://a<b': not a URL: the host has a character that no host name has"},
		{"http://u:p^w@h", "", "'http://h': not a URL: write special characters of the user name and password as %XX"},
		{"demo:A", "", "'demo:A': a profile has small letters, digits and dashes, e.g. demo:article"},
	}
	for _, c := range cases {
		got, err := CheckURL(c.in)
		msg := ""
		if err != nil {
			msg = err.Error()
		}
		if got != c.want || msg != c.err {
			t.Errorf("%q:\n got %q, %q\nwant %q, %q", c.in, got, msg, c.want, c.err)
		}
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, s := range []string{"http://localhost:8000", "h:1", "demo:tour", "ftp://u:p@h?q", "[::1]", "::1", "http://%", "a@b@c:1/d", "http://u:p@h/x?y#z", "//", ":", "http://h:1/..%2f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := CheckURL(in)
		if err != nil {
			if got != "" || strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Fatalf("%q: %q, %q", in, got, err)
			}
			return
		}
		if profile, ok := Demo(got); ok {
			if profile == "" {
				t.Fatalf("%q is a demo without a profile", in)
			}
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			t.Fatalf("%q gives %q: %v", in, got, err)
		}
		if again, err := CheckURL(got); err != nil || again != got {
			t.Fatalf("%q gives %q, which gives %q, %v", in, got, again, err)
		}
		shown := Redact(got)
		if u.User != nil && strings.Contains(shown, "@") && !strings.Contains(u.Path, "@") || strings.ContainsAny(shown, "?#") {
			t.Fatalf("%q is shown as %q", in, shown)
		}
	})
}

func TestNearest(t *testing.T) {
	for raw, want := range map[string]string{"reprot": "report", "wacth": "watch", "engin": "engine", "repla": "replay", "xyzzy": "", "": ""} {
		if got := nearest(raw, commandNames()); got != "" && got != "; did you mean '"+want+"'?" || got == "" && want != "" {
			t.Errorf("%q: %q", raw, got)
		}
	}
	if distance(strings.Repeat("a", 1000), "a") != 64 || distance("", "abc") != 3 || distance("ab", "ba") != 1 {
		t.Error("distance")
	}
}
