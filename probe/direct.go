package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"teapot/probe/event"
)

// direct makes connections to a target for requests over HTTP/1.1 that are
// read here and not by net/http. It is shared by the streams of the target.
//
// Under TLS it offers HTTP/1.1 alone at first. Whoever speaks both is then
// measured with the kernel's stamps and with a connection for each stream;
// most servers would choose HTTP/2, whose frames of all streams share one
// connection, so that only the time of the read is left and a stream can wait
// for its neighbours. HTTP/2 is spoken where nothing else is.
type direct struct {
	scheme, host string // of the URLs it serves
	network      string
	addr         string
	name         string // of the certificate
	dial         func(ctx context.Context, network, addr string) (net.Conn, error)
	tls          *tls.Config

	http2    atomic.Bool // it speaks nothing else: net/http's
	wordless atomic.Bool // it agrees on no protocol, which means HTTP/1.1
}

// newDirect prepares connections to base, by the dialer of a transport. It is
// nil where they cannot be made directly: through a proxy, and to a host whose
// name has to be translated first.
func newDirect(base string, rt *http.Transport) *direct {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" || !ascii(u.Hostname()) {
		return nil
	}
	if via, err := proxy(&http.Request{URL: u}); via != nil || err != nil {
		return nil
	}
	d := &direct{scheme: u.Scheme, host: u.Host, network: "tcp", name: u.Hostname(), dial: rt.DialContext}
	port := u.Port()
	switch {
	case u.Scheme == "https":
		d.tls = rt.TLSClientConfig
		if port == "" {
			port = "443"
		}
	case port == "":
		port = "80"
	}
	d.addr = net.JoinHostPort(d.name, port)
	return d
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// serves tells whether a request can go by a connection of ours.
func (d *direct) serves(u *url.URL) bool {
	return d != nil && !d.http2.Load() && u.Scheme == d.scheme && u.Host == d.host
}

// errHTTP2 is why there is no connection to a server that speaks HTTP/2 alone.
var errHTTP2 = errors.New("it speaks HTTP/2 alone")

// connect makes a connection that is ready for a request: c is what to read
// and write, and w the socket under it. t learns of the phases.
func (d *direct) connect(ctx context.Context, t *trip) (c net.Conn, w *wire, err error) {
	if d.tls == nil {
		c, err = d.dial(ctx, d.network, d.addr)
		return c, wireOf(c), err
	}
	s, err := d.secure(ctx, t, "http/1.1")
	if s != nil && (d.wordless.Load() || s.ConnectionState().NegotiatedProtocol != "") {
		return s, wireOf(s), nil
	}
	if s == nil && !strings.Contains(err.Error(), "no application protocol") {
		return nil, nil, err
	}
	// No word about it: an old server, or one that has no HTTP/1.1. Offered
	// both, it tells.
	if s != nil {
		s.Close()
	}
	if s, err = d.secure(ctx, t, "h2", "http/1.1"); err != nil {
		return nil, nil, err
	}
	if s.ConnectionState().NegotiatedProtocol == "h2" {
		d.http2.Store(true)
		s.Close()
		return nil, nil, errHTTP2
	}
	d.wordless.Store(true)
	return s, wireOf(s), nil
}

// secure makes a connection under TLS that offers protocols.
func (d *direct) secure(ctx context.Context, t *trip, protocols ...string) (*tls.Conn, error) {
	c, err := d.dial(ctx, d.network, d.addr)
	if err != nil {
		return nil, err
	}
	cfg := d.tls.Clone()
	cfg.NextProtos = protocols
	// A request leaves in one record, so in one write, if it fits.
	cfg.DynamicRecordSizingDisabled = true
	if cfg.ServerName == "" {
		cfg.ServerName = d.name
	}
	s := tls.Client(c, cfg)
	t.phase(&t.began.tls)
	err = s.HandshakeContext(ctx)
	t.done(&t.began.tls, &t.spans.TLS, err, event.ErrTLS)
	if err != nil {
		c.Close()
		return nil, err
	}
	return s, nil
}
