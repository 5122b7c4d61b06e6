package probe

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// maxLine is how many bytes of somebody else's text one line keeps.
const maxLine = 300

// minSecret is the shortest string that is taken for a secret: anything
// shorter would be found inside ordinary words.
const minSecret = 4

// redactor turns text of servers and of errors into one line that is safe to
// show, to log and to record: without the secrets of a target, without control
// characters, and of bounded length.
type redactor struct{ secrets []string }

// newRedactor collects what must never be shown: the API key, the user and
// password and the query values of the URL, and the values of headers whose
// name sounds secret.
func newRedactor(u *url.URL, key string, headers http.Header) *redactor {
	r := &redactor{}
	r.add(key)
	if u != nil {
		if pass, ok := u.User.Password(); ok {
			user := u.User.Username()
			r.add(pass)
			r.add(base64.StdEncoding.EncodeToString([]byte(user + ":" + pass)))
		}
		r.add(u.User.Username())
		r.add(u.RawQuery)
		for _, values := range u.Query() {
			for _, v := range values {
				r.add(v)
			}
		}
	}
	for name, values := range headers {
		if !secretName(name) {
			continue
		}
		for _, v := range values {
			r.add(v)
			if _, rest, ok := strings.Cut(v, " "); ok { // after "Bearer" or "Basic"
				r.add(rest)
			}
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	r.secrets = slices.Compact(r.secrets)
	return r
}

// add takes a secret in the spellings in which a server may send it back.
func (r *redactor) add(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret {
		return
	}
	r.secrets = append(r.secrets, secret)
	for _, spelt := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		if spelt != secret {
			r.secrets = append(r.secrets, spelt)
		}
	}
}

// secretName tells whether a header's name sounds as if its value were secret.
func secretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "key", "token", "secret", "cookie", "password", "credential", "session", "signature"},
		func(part string) bool { return strings.Contains(name, part) })
}

// finds tells whether s holds a secret, without allocating.
func (r *redactor) finds(s string) bool {
	for _, secret := range r.secrets {
		if strings.Contains(s, secret) {
			return true
		}
	}
	return false
}

// hide replaces the secrets in s, and does nothing else to it.
func (r *redactor) hide(s string) string {
	for _, secret := range r.secrets {
		if strings.Contains(s, secret) {
			s = strings.ReplaceAll(s, secret, redacted)
		}
	}
	return s
}

// line makes one clean line of at most maxLine bytes.
func (r *redactor) line(s string) string {
	s = r.hide(s)
	var b strings.Builder
	gap := false
	for _, c := range s {
		switch {
		case unicode.IsSpace(c) || unicode.IsControl(c):
			gap = true
			continue
		case c == utf8.RuneError || unicode.In(c, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp):
			continue // invisible, or turns the direction of what follows
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		if b.Len()+utf8.RuneLen(c) > maxLine-len("…") {
			b.WriteString("…")
			break
		}
		b.WriteRune(c)
	}
	// A secret that was broken up by what has just been removed.
	return r.hide(b.String())
}
