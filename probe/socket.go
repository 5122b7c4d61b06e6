package probe

import (
	"errors"
	"net/url"
	"strings"
)

// socketScheme is that of the address of a unix socket.
const socketScheme = "unix"

// overSocket reads the address of a server that listens on a unix socket:
// unix:///run/engine.sock, and unix:///run/engine.sock:/prefix where its paths
// begin with one. It returns the path of the socket and the address that the
// requests bear, whose host nobody looks up.
func overSocket(u *url.URL) (path string, inner *url.URL, err error) {
	if u.Host != "" {
		return "", nil, errors.New("the path of a unix socket begins at the root: unix:///run/engine.sock")
	}
	path, rest, _ := strings.Cut(u.Path, ":/")
	path = strings.TrimRight(path, ":/")
	if path == "" {
		return "", nil, errors.New("the address names no unix socket")
	}
	inner = &url.URL{Scheme: "http", User: u.User, Host: "localhost", RawQuery: u.RawQuery}
	if rest != "" {
		inner.Path = "/" + rest
	}
	return path, inner, nil
}
