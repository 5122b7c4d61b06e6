package export

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	path        = "/metrics"
	readLimit   = 5 * time.Second
	writeLimit  = 30 * time.Second
	idleLimit   = 2 * time.Minute
	headerLimit = 16 << 10 // bytes
	atOnce      = 4        // scrapes
)

// Server answers scrapes of a session.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// Listen takes an address for Serve: host:port, or :port, which is loopback.
// Another host is listened on only where it is named. A port that is taken, or
// forbidden, is an error.
func Listen(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w", addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen for scrapes: %w", err)
	}
	return l, nil
}

// Serve answers on a listener, on goroutines of its own, until Close.
func Serve(l net.Listener, from Source, version string) *Server {
	reg := prometheus.NewRegistry()
	reg.MustRegister(newCollector(from, version))
	mux := http.NewServeMux()
	mux.Handle("GET "+path, promhttp.HandlerFor(reg, promhttp.HandlerOpts{
		MaxRequestsInFlight: atOnce, ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprintf(w, "teapot %s: its figures for Prometheus are at %s\n", version, path)
	})
	s := &Server{listener: l, http: &http.Server{
		Handler: mux, ReadTimeout: readLimit, WriteTimeout: writeLimit, IdleTimeout: idleLimit, MaxHeaderBytes: headerLimit,
	}}
	go func() { _ = s.http.Serve(l) }()
	return s
}

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + path }

// Close ends it; scrapes under way get a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.http.Close()
}
