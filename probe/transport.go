package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"teapot/probe/event"
	"teapot/probe/stamp"
)

const (
	readBuffer  = 64 << 10 // one read takes what a burst brings
	writeBuffer = 8 << 10  // an ordinary request leaves in one write
	idleConns   = 1024     // per target: every stream keeps its connection
)

// newTransport makes the transport of one target, which a unix socket leads to
// if one is named. Its connections stamp their reads, it asks for no compression, and it has no limit but that of
// connecting: the other limits are those of a request.
func newTransport(t event.TargetConfig, socket string, connect time.Duration, clk *stamp.Clock) (*http.Transport, error) {
	secure, err := tlsConfig(t)
	if err != nil {
		return nil, err
	}
	// The limit of connecting is the request's. This bounds what goes on after
	// the request is gone.
	backstop := 2 * connect
	dialer := &net.Dialer{Timeout: backstop}
	return &http.Transport{
		Proxy: proxy,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if socket != "" {
				network, addr = "unix", socket
			}
			c, err := dialer.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &wire{Conn: stamp.Wrap(c, clk), clk: clk}, nil
		},
		TLSClientConfig:        secure,
		TLSHandshakeTimeout:    backstop,
		ForceAttemptHTTP2:      true, // negotiated under TLS alone
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idleConns,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}, nil
}

// tlsConfig is what the user said of certificates.
func tlsConfig(t event.TargetConfig) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: t.Insecure} //nolint:gosec // asked for by name
	if t.CACert == "" {
		return c, nil
	}
	pem, err := os.ReadFile(t.CACert)
	if err != nil {
		return nil, fmt.Errorf("read the CA certificate: %w", err)
	}
	if c.RootCAs, err = x509.SystemCertPool(); err != nil {
		c.RootCAs = x509.NewCertPool()
	}
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read the CA certificate: %s holds none", t.CACert)
	}
	return c, nil
}

// proxy is the environment's, but never for this machine itself.
func proxy(r *http.Request) (*url.URL, error) {
	if loopback(r.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// loopback tells whether a host name is this machine's loopback interface.
func loopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// errElsewhere ends a redirect that leaves the server we were told of.
var errElsewhere = errors.New("it redirects to another server, which is not followed")

// newClient makes the client for everything that is not measured. It follows
// redirects within one server only, so that no key and no header goes anywhere
// else.
func newClient(rt http.RoundTripper) *http.Client {
	return &http.Client{
		Transport: rt,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
				return errElsewhere
			}
			if len(via) > 5 {
				return errors.New("it redirects for ever")
			}
			return nil
		},
	}
}

// wire is a stamped connection that also knows when a request begins to leave.
type wire struct {
	*stamp.Conn
	clk  *stamp.Clock
	next atomic.Pointer[trip] // whose request the next write is
}

// NetConn is the stamped connection underneath, for stamp.Of.
func (w *wire) NetConn() net.Conn { return w.Conn }

// Write notes the time just before the first write of a request.
func (w *wire) Write(b []byte) (int, error) {
	t := w.next.Swap(nil)
	if t == nil {
		return w.Conn.Write(b)
	}
	at := w.clk.Now()
	t.leaves(at)
	n, err := w.Conn.Write(b)
	if n > 0 {
		t.left(w.clk.Now() - at)
	}
	return n, err
}

// wireOf finds the connection of ours under c, or nil.
func wireOf(c net.Conn) *wire {
	for c != nil {
		if w, ok := c.(*wire); ok {
			return w
		}
		u, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = u.NetConn()
	}
	return nil
}
