package probe

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
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

// minPart is the shortest beginning of a secret that is not shown either where
// the rest of it may have been cut off.
const minPart = 4

// minCookie is the shortest value inside a cookie that is taken for a secret:
// many are settings, such as "dark".
const minCookie = 8

// redactor turns text of servers and of errors into one line that is safe to
// show, to log and to record: without the secrets of a target, without control
// characters, and of bounded length. It does not change once it is made.
type redactor struct {
	secrets []string // longest first
	find    matcher
}

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
			r.addHeader(v)
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(a, b))
	})
	r.secrets = slices.Compact(r.secrets)
	r.find = newMatcher(r.secrets)
	return r
}

// addHeader takes the value of a header, and what in it is secret by itself.
func (r *redactor) addHeader(value string) {
	value = strings.TrimSpace(value)
	scheme, rest, spaced := strings.Cut(value, " ")
	if spaced && len(strings.TrimSpace(rest)) >= minSecret {
		r.add(rest)
		if strings.EqualFold(scheme, "bearer") || strings.EqualFold(scheme, "basic") {
			return // that word is none
		}
	}
	r.add(value)
	for part := range strings.SplitSeq(value, ";") { // cookies
		if _, v, ok := strings.Cut(part, "="); ok && len(v) >= minCookie {
			r.add(v)
		}
	}
}

// add takes a secret in the spellings in which a server may send it back.
func (r *redactor) add(secret string) {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret {
		return
	}
	r.secrets = append(r.secrets, secret)
	for _, spelt := range spellings(secret) {
		if spelt != secret {
			r.secrets = append(r.secrets, spelt)
		}
	}
}

// spellings are those of URLs, of HTML, and of the usual writers of JSON. The
// rarer ones of JSON are found in the line that is made of it.
func spellings(secret string) []string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	quoted := ""
	if enc.Encode(secret) == nil {
		quoted = b.String()
		quoted = quoted[1 : len(quoted)-2] // quotes and the line's end
	}
	lower := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)
	upper := strings.NewReplacer("<", `\u003C`, ">", `\u003E`, "&", `\u0026`)
	slash := strings.NewReplacer("/", `\/`)
	return []string{
		url.QueryEscape(secret), url.PathEscape(secret), html.EscapeString(secret),
		quoted, slash.Replace(quoted), lower.Replace(quoted), upper.Replace(quoted), slash.Replace(lower.Replace(quoted)),
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

// hide replaces the secrets in s, and does nothing else to it. Secrets that
// overlap are replaced as one.
func (r *redactor) hide(s string) string {
	if !r.finds(s) {
		return s
	}
	var v veil
	v.reset(&r.find)
	b := v.push(nil, []byte(s))
	return string(v.emit(b, len(v.held)))
}

// raw hides secrets in what a server sent, before anything that reads it can cut
// one in two. Data that cannot be read without a secret, because that is a word
// of its format, stays as it is: the line made of it is cleaned all the same.
func (r *redactor) raw(data []byte) []byte {
	if !r.finds(view(data)) {
		return data
	}
	hidden := []byte(r.hide(string(data)))
	if json.Valid(data) && !json.Valid(hidden) {
		return data
	}
	return hidden
}

// clip takes out the beginnings of secrets where a text was cut: at its end,
// and wherever somebody else's cut is marked.
func (r *redactor) clip(s string) string {
	if len(r.secrets) == 0 {
		return s
	}
	parts := strings.Split(s, "…")
	for i, part := range parts {
		for _, end := range []string{part, strings.TrimRight(part, " .,;:\"'`)]}>")} {
			if n := r.find.begun(end); n >= minPart {
				parts[i] = end[:len(end)-n]
				if i == len(parts)-1 {
					parts[i] += "…"
				}
				break
			}
		}
	}
	return strings.Join(parts, "…")
}

// line makes one clean line of at most maxLine bytes.
func (r *redactor) line(s string) string {
	s = r.disguised(r.hide(s))
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
	// A secret that was broken up by what has just been removed, and one of
	// which the cut left the beginning.
	return r.clip(r.hide(b.String()))
}
