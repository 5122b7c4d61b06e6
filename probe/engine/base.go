package engine

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Base normalises an address as a user gives it: with or without a scheme, a
// path prefix, a trailing /v1, or the path of an endpoint. apiBase is where
// the dialects' paths start (http://host:8000/v1), root is where the engine's
// own paths start (http://host:8000). Userinfo stays, because requests need
// it, so neither may be shown as it is; a query and a fragment go.
func Base(raw string) (apiBase, root string, err error) {
	text := strings.TrimSpace(raw)
	if text == "" {
		return "", "", errors.New("no address")
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		// The error of url.Parse quotes the address, which may hold a password.
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return "", "", fmt.Errorf("the address is no URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return "", "", fmt.Errorf("the address has the scheme %q: only http and https are spoken", u.Scheme)
	}
	if u.Hostname() == "" {
		return "", "", errors.New("the address names no host")
	}
	u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = "", "", "", false
	path := strings.TrimRight(u.EscapedPath(), "/")
	for _, end := range []string{"/chat/completions", "/completions", "/models", "/responses", "/messages"} {
		if cut, ok := strings.CutSuffix(path, end); ok {
			path = cut
			break
		}
	}
	path = strings.TrimSuffix(strings.TrimRight(path, "/"), "/v1")
	u.Path, u.RawPath = "", ""
	root = u.String() + path
	return root + "/v1", root, nil
}
