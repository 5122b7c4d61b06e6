package options

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"teapot/ui/format"
)

const (
	demoScheme   = "demo:"
	defaultDemo  = "tour"
	socketScheme = "unix"
	maxURL       = 2048
)

// Redact returns a URL as it may be shown: without userinfo and query.
func Redact(u string) string { return format.Redact(u) }

// Demo returns the profile of a demo:PROFILE URL, and whether it is one.
func Demo(u string) (profile string, ok bool) { return strings.CutPrefix(u, demoScheme) }

// CheckURL returns the URL of an endpoint in its normal form: http, https,
// unix:///SOCKET[:/PATH] or demo:PROFILE, host:port without a scheme taken as http, no fragment, no
// slash at the end. Errors are one line that says what would be right, and hold
// no userinfo or query.
func CheckURL(s string) (string, error) {
	shown := quote(Redact(s))
	switch {
	case s == "":
		return "", errors.New("the URL is empty: give one such as http://localhost:8000, or demo:tour")
	case len(s) > maxURL:
		return "", fmt.Errorf("the URL has %d bytes: at most %d are taken", len(s), maxURL)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return "", fmt.Errorf("%s: a URL has no blanks or control characters in it", shown)
	}
	if profile, ok := strings.CutPrefix(s, demoScheme); ok && !strings.HasPrefix(profile, "//") {
		return checkDemo(profile)
	}
	full, err := withScheme(s, shown)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(full)
	if err != nil {
		return "", fmt.Errorf("%s: not a URL%s", shown, parseReason(err))
	}
	check := checkHost
	if strings.EqualFold(u.Scheme, socketScheme) {
		check = checkSocket
	}
	if err := check(u, shown); err != nil {
		return "", err
	}
	u.Scheme, u.Fragment, u.RawFragment = strings.ToLower(u.Scheme), "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u.String(), nil
}

func checkDemo(profile string) (string, error) {
	if profile == "" {
		profile = defaultDemo
	}
	for _, r := range profile {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return "", fmt.Errorf("'demo:%s': a profile has small letters, digits and dashes, e.g. demo:article", format.Clean(profile))
		}
	}
	return demoScheme + profile, nil
}

// withScheme puts http:// before what has no scheme.
func withScheme(s, shown string) (string, error) {
	if scheme, _, ok := strings.Cut(s, "://"); ok {
		switch strings.ToLower(scheme) {
		case "http", "https", socketScheme:
			return s, nil
		}
		return "", fmt.Errorf("%s: only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000", shown)
	}
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() {
		return "", fmt.Errorf("%s: an IPv6 address stands in brackets, e.g. http://[%s]:8000", shown, a)
	}
	authority, _, _ := strings.Cut(s, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if head, port, ok := strings.Cut(authority, ":"); ok && !strings.HasPrefix(authority, "[") && !digits(port) {
		if head == "http" || head == "https" {
			return "", fmt.Errorf("%s: two slashes are missing, e.g. http://localhost:8000", shown)
		}
		if port == "" || !strings.ContainsAny(port[:1], "0123456789-+") {
			return "", fmt.Errorf("%s: only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000", shown)
		}
	}
	return "http://" + s, nil
}

func checkHost(u *url.URL, shown string) error {
	if u.Hostname() == "" {
		return fmt.Errorf("%s: the host is missing, e.g. http://localhost:8000", shown)
	}
	if strings.ContainsAny(u.Hostname(), "<>\"'^`{}|\\,;!$&()*+=") {
		return fmt.Errorf("%s: not a URL: the host has a character that no host name has", shown)
	}
	if strings.HasSuffix(u.Host, ":") {
		return fmt.Errorf("%s: the port is missing after the colon, e.g. http://localhost:8000", shown)
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("%s: a port is a number from 1 to 65535", shown)
		}
	}
	return nil
}

// checkSocket checks the address of a unix socket, whose path may be followed
// by a colon and the path of the API.
func checkSocket(u *url.URL, shown string) error {
	path, _, _ := strings.Cut(u.Path, ":/")
	if u.Host != "" || strings.Trim(path, "/:") == "" {
		return fmt.Errorf("%s: a unix socket has an absolute path, e.g. unix:///run/engine.sock", shown)
	}
	return nil
}

// parseReason takes from an error of url.Parse what cannot hold a secret.
func parseReason(err error) string {
	var host url.InvalidHostError
	var escape url.EscapeError
	switch {
	case errors.As(err, &host):
		return ": the host has a character that no host name has"
	case errors.As(err, &escape):
		return ": a % is not followed by two hexadecimal digits"
	case strings.Contains(err.Error(), "invalid port"):
		return ": a port is a number from 1 to 65535"
	case strings.Contains(err.Error(), "userinfo"):
		return ": write special characters of the user name and password as %XX"
	}
	return ", e.g. http://localhost:8000"
}

// bareWord tells whether an argument looks like a mistyped command rather than
// a URL: no dot, no colon, no slash, and not localhost.
func bareWord(s string) bool {
	return s != "" && s != "localhost" && !strings.ContainsAny(s, ".:/@[?#")
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// quote puts what a person typed between quotes for a message, cleaned and cut.
func quote(s string) string { return "'" + format.Cut(format.Clean(s), 120) + "'" }
