package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// relayKey finds, in a request's context, the relay that takes its connection
// back.
type relayKey struct{}

// relay is the listener that the HTTP server sees: it yields new connections,
// and again those whose stream has ended, so that a client can go on using
// them.
type relay struct {
	addr net.Addr
	in   chan net.Conn
	done chan struct{}
	once sync.Once
}

func newRelay(addr net.Addr) *relay {
	return &relay{addr: addr, in: make(chan net.Conn), done: make(chan struct{})}
}

func (r *relay) Accept() (net.Conn, error) {
	select {
	case c := <-r.in:
		return c, nil
	case <-r.done:
		return nil, net.ErrClosed
	}
}

func (r *relay) Close() error {
	r.once.Do(func() { close(r.done) })
	return nil
}

func (r *relay) Addr() net.Addr { return r.addr }

// give hands a connection over, with bytes already read from it.
func (r *relay) give(c net.Conn, early []byte) {
	if len(early) > 0 {
		c = &earlyConn{Conn: c, early: early}
	}
	select {
	case r.in <- c:
	case <-r.done:
		_ = c.Close()
	}
}

// earlyConn is a connection from which some bytes have been read before.
type earlyConn struct {
	net.Conn
	early []byte
}

func (c *earlyConn) Read(b []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(b, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// Serve runs the engine and answers on ln until ctx is done, and closes ln. It
// returns nil then; before, it returns an error when the listener fails or
// cannot be opened again after a restart, or when the truth log cannot be
// written.
func (e *Engine) Serve(ctx context.Context, ln net.Listener) error {
	return e.serve(ctx, ln, func() (net.Listener, error) { return listenAgain(ctx, ln.Addr()) })
}

// listenAgain opens the address of a listener that was closed. Another program
// may have taken the port for a moment.
func listenAgain(ctx context.Context, addr net.Addr) (net.Listener, error) {
	var lc net.ListenConfig
	for try := 0; ; try++ {
		ln, err := lc.Listen(ctx, addr.Network(), addr.String())
		if err == nil || try == 50 || ctx.Err() != nil {
			return ln, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (e *Engine) serve(ctx context.Context, ln net.Listener, again func() (net.Listener, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctx) }()
	var err error
	for {
		var down bool
		if down, err = e.life(ctx, ln, ran); !down || !e.wait(ctx) {
			break
		}
		if ln, err = again(); err != nil {
			if err = fmt.Errorf("sim: listen again after a restart: %w", err); ctx.Err() != nil {
				err = nil
			}
			break
		}
	}
	cancel()
	if rerr := <-ran; err == nil {
		err = rerr
	}
	return err
}

// life serves from one start of the process to its end. It returns true when
// the engine is to come back. What Run returned is put back into ran.
func (e *Engine) life(ctx context.Context, ln net.Listener, ran chan error) (bool, error) {
	front := newRelay(ln.Addr())
	srv := &http.Server{
		Handler:           e.handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       75 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // what clients do is not our diagnostics
		BaseContext:       func(net.Listener) context.Context { return context.WithValue(ctx, relayKey{}, front) },
	}
	var all sync.WaitGroup
	failed := make(chan error, 1)
	all.Go(func() { _ = srv.Serve(front) }) // ends with ErrServerClosed
	all.Go(func() { failed <- accept(ln, front) })
	defer func() {
		_ = ln.Close()
		_ = srv.Close()
		all.Wait()
	}()
	select {
	case <-ctx.Done():
		return false, nil
	case <-e.crashed:
		return true, nil
	case err := <-failed:
		return false, fmt.Errorf("sim: accept: %w", err)
	case err := <-ran:
		ran <- err
		return false, nil
	}
}

// accept feeds a relay until the listener fails.
func accept(ln net.Listener, to *relay) error {
	for {
		c, err := ln.Accept()
		if err != nil {
			var ne net.Error
			if errors.As(err, &ne) && ne.Temporary() { // as net/http does: too many open files passes
				time.Sleep(5 * time.Millisecond)
				continue
			}
			return err
		}
		to.give(c, nil)
	}
}

// wait lets the engine be dead as long as it should. It returns false when the
// run is over meanwhile.
func (e *Engine) wait(ctx context.Context) bool {
	e.mu.Lock()
	left := e.back - e.clock.Now()
	e.mu.Unlock()
	t := time.NewTimer(time.Duration(max(left, 0)))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
