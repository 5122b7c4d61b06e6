package accuracy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/gob"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"runtime/debug"
	"strings"
)

// Transport is what a server is reached by.
type Transport string

// The transports.
const (
	HTTP    Transport = "http"
	HTTPS   Transport = "https" // HTTP/1.1 under TLS
	HTTP2   Transport = "h2"    // HTTP/2 under TLS, and nothing else offered
	Unix    Transport = "unix"
	Distant Transport = "distant" // HTTP over a link of 40 ms there and back, in a network of its own
)

// Transports lists those that every machine has.
func Transports() []Transport { return []Transport{HTTP, HTTPS, HTTP2, Unix} }

// Serve is the scheduled server: it listens in the way the transport says,
// says where in its first line on out, and then answers each line "log" on in
// with a Log in gob's encoding. It ends at the end of in. dir is where its
// socket or its certificate goes.
//
// A Distant one must have been started in a network of its own, which it
// changes.
func Serve(ctx context.Context, tr Transport, dir string, in io.Reader, out io.Writer) error {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(512 << 20)
	w := newWriter()
	stop := make(chan struct{})
	defer close(stop)
	go w.run(stop)

	ln, at, err := listen(tr, dir)
	if err != nil {
		return err
	}
	srv := newServer(w, ln)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	defer srv.Close()
	if _, err := fmt.Fprintf(out, "listens on %s%s\n", at.url, at.note); err != nil {
		return err
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	enc := gob.NewEncoder(out)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			return fmt.Errorf("serve: %w", err)
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			if line == "log" {
				if err := enc.Encode(w.written()); err != nil {
					return fmt.Errorf("hand out the log: %w", err)
				}
			}
		}
	}
}

// place is where a server listens.
type place struct {
	url  string
	note string // how it is reached, where that is unusual: " (…)"
}

// listen opens the socket.
func listen(tr Transport, dir string) (*listener, place, error) {
	if tr == Unix {
		path := filepath.Join(dir, "server.sock")
		ln, err := net.Listen("unix", path)
		return newListener(ln, nil, false), place{url: "unix://" + path}, err
	}
	addr, at := "127.0.0.1", place{}
	if tr == Distant {
		how, err := openLink(linkDelay)
		if err != nil {
			return nil, place{}, fmt.Errorf("make a link of 40 ms: %w", err)
		}
		addr, at.note = how.listen, " ("+how.name+")"
		at.url = how.dial
	}
	ln, err := net.Listen("tcp", addr+":0")
	if err != nil {
		return nil, place{}, fmt.Errorf("listen: %w", err)
	}
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	if at.url == "" {
		at.url = addr
	}
	at.url += ":" + port
	if tr == HTTP || tr == Distant {
		at.url = "http://" + at.url
		return newListener(ln, nil, false), at, nil
	}
	at.url = "https://" + at.url
	conf, err := certify(filepath.Join(dir, "ca.pem"))
	if err != nil {
		ln.Close()
		return nil, place{}, err
	}
	conf.NextProtos = []string{"http/1.1"}
	if tr == HTTP2 {
		conf.NextProtos = []string{"h2"}
	}
	conf.MinVersion = tls.VersionTLS12
	return newListener(ln, conf, tr == HTTP2), at, nil
}

// readWhere reads a server's first line.
func readWhere(r *bufio.Reader) (where place, err error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return place{}, fmt.Errorf("it did not say where it listens: %w", err)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "listens on ")
	if !ok {
		return place{}, fmt.Errorf("it said %q", line)
	}
	where.url, where.note, _ = strings.Cut(rest, " ")
	where.note = strings.Trim(where.note, "()")
	return where, nil
}
