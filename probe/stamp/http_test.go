package stamp

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"sync"
	"testing"
)

// feed is a server that sends a line whenever it is told to.
type feed struct {
	lines chan string
}

func (f *feed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	for l := range f.lines {
		fmt.Fprintln(w, l)
		http.NewResponseController(w).Flush()
	}
}

// A stream under net/http, plain, under TLS dialled by either of the
// Transport's hooks, and under HTTP/2: the bytes are right, and the stamp of
// each line lies between the moment before it was sent and the one after it
// was read.
func TestUnderNetHTTP(t *testing.T) {
	dial := func(ctx context.Context, network, addr string, k *Clock) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return Wrap(c, k), nil
	}
	for _, c := range []struct {
		name         string
		tls, byDial  bool
		h2           bool
		proto        string
		keepsRecords bool
	}{
		{name: "plain", proto: "HTTP/1.1"},
		{name: "TLS over DialContext", tls: true, proto: "HTTP/1.1"},
		{name: "TLS in DialTLSContext", tls: true, byDial: true, proto: "HTTP/1.1"},
		{name: "HTTP/2", tls: true, h2: true, proto: "HTTP/2.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &feed{lines: make(chan string)}
			srv := httptest.NewUnstartedServer(f)
			srv.EnableHTTP2 = c.h2
			if c.tls {
				srv.StartTLS()
			} else {
				srv.Start()
			}
			defer srv.Close()
			k := NewClock()
			conf := &tls.Config{InsecureSkipVerify: true} // the test's own server
			tr := &http.Transport{TLSClientConfig: conf, ForceAttemptHTTP2: c.h2, DisableCompression: true,
				DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) { return dial(ctx, network, addr, k) }}
			if c.byDial {
				tr.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
					raw, err := dial(ctx, network, addr, k)
					if err != nil {
						return nil, err
					}
					s := tls.Client(raw, conf)
					return s, s.HandshakeContext(ctx)
				}
			}
			defer tr.CloseIdleConnections()
			checkLines(t, &http.Client{Transport: tr}, srv.URL, f, k, c.proto, c.tls)
		})
	}
}

func checkLines(t *testing.T, client *http.Client, url string, f *feed, k *Clock, proto string, secure bool) {
	var conn *Conn
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { conn = Of(i.Conn) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.Proto != proto {
		t.Fatalf("%s, want %s", res.Proto, proto)
	}
	if conn == nil {
		t.Fatal("the stamped connection is not found")
	}
	body := bufio.NewReader(res.Body)
	after := conn.Last().Seq
	for i := range 20 {
		want := fmt.Sprint("line ", i)
		before := k.Now()
		f.lines <- want
		got, err := body.ReadString('\n')
		if err != nil || got != want+"\n" {
			t.Fatalf("%q, %v", got, err)
		}
		now := k.Now()
		r := conn.Joined(after)
		if r.Seq <= after {
			t.Fatalf("line %d: no read is known to have brought it", i)
		}
		after = r.Seq
		// A kernel stamp is of another clock's making: allow its granularity.
		if r.At < before-ms/2 || r.Taken() > now {
			t.Errorf("line %d: arrived %d, taken %d; sent after %d, had at %d", i, r.At, r.Taken(), before, now)
		}
		if secure != (r.Records > 0) {
			t.Errorf("line %d: %d TLS records", i, r.Records)
		}
	}
	close(f.lines)
	if rest, err := io.ReadAll(body); len(rest) != 0 || err != nil {
		t.Errorf("after the last line: %q, %v", rest, err)
	}
}

// Several connections at once under one Transport, for the race detector.
func TestManyStreams(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range 50 {
			fmt.Fprintln(w, i)
			http.NewResponseController(w).Flush()
		}
	}))
	defer srv.Close()
	k := NewClock()
	tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return Wrap(c, k), nil
	}}
	defer tr.CloseIdleConnections()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				res, err := (&http.Client{Transport: tr}).Get(srv.URL)
				if err != nil {
					t.Error(err)
					return
				}
				n := 0
				for s := bufio.NewScanner(res.Body); s.Scan(); n++ {
				}
				res.Body.Close()
				if n != 50 {
					t.Errorf("%d lines, want 50", n)
				}
			}
		})
	}
	wg.Wait()
}
