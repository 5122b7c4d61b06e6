package format

import (
	"regexp"
	"strings"
)

// Redact returns a URL as it may be shown, logged and recorded: without
// userinfo, query and fragment, where people put passwords and keys. It never
// fails: of what does not look like a URL it keeps what cannot hold a secret.
func Redact(url string) string {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	scheme, rest := "", url
	if i := strings.Index(url, "://"); i >= 0 {
		scheme, rest = url[:i+3], url[i+3:]
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, `/\`); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return scheme + authority[i+1:] + path
	}
	if !plainPort(authority) {
		// "user:pass/word@host" has its password cut by the slash, and
		// "user:pass?word@host" by the question mark.
		if i := strings.LastIndexByte(rest, '@'); i >= 0 {
			return scheme + rest[i+1:]
		}
		if scheme != "" {
			return scheme + "[hidden]"
		}
	}
	return scheme + rest
}

// plainPort tells whether authority is a host, or a host and a numeric port.
func plainPort(authority string) bool {
	host := authority
	if i := strings.LastIndexByte(authority, ']'); i >= 0 {
		host = authority[i:]
	}
	i := strings.LastIndexByte(host, ':')
	if i < 0 {
		return true
	}
	for _, c := range host[i+1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

var urlInText = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>` + "`" + `]+`)

// RedactText redacts every URL that stands in a text, such as the message of
// an error of net/http.
func RedactText(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	return urlInText.ReplaceAllStringFunc(s, func(url string) string {
		end := len(url)
		if !strings.ContainsAny(url, "?#") {
			end = len(strings.TrimRight(url, ".,;:!)")) // the sentence's, not the URL's
		}
		return Redact(url[:end]) + url[end:]
	})
}
