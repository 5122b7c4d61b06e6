package probe

import (
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
	"teapot/probe/http1"
	"teapot/probe/record"
	"teapot/probe/sse"
	"teapot/probe/stamp"
)

// endlessConn is a connection that brings a chunk a read for ever.
type endlessConn struct {
	net.Conn
	head, chunk string
}

func (c *endlessConn) Read(b []byte) (int, error) {
	if c.head != "" {
		n := copy(b, c.head)
		c.head = ""
		return n, nil
	}
	return copy(b, c.chunk), nil
}

// From the read of the connection to the pipe, through HTTP, the framing of
// events, the dialect, the veil over secrets and the inbox, a token leaves no
// garbage.
func TestTokenPathAllocatesNothing(t *testing.T) {
	clk := stamp.NewClock()
	src := &endlessConn{head: streamHead, chunk: string(benchChunks[0])}
	socket := stamp.Wrap(src, clk)
	tap := newTap(socket, socket)
	resp, err := http1.NewConn(&tap).Response(&http.Request{Method: http.MethodPost})
	if err != nil {
		t.Fatal(err)
	}
	in := newInbox(inboxLimit, true)
	out, err := record.NewWriter(io.Discard, record.Options{Text: true})
	if err != nil {
		t.Fatal(err)
	}
	go in.drain(out, clk.Now)
	defer in.close(nil, time.Second)
	b := body{clk: clk, hb: stamp.NewHeartbeat(clk.Now, time.Sleep), red: newRedactor(nil, "sk-canary", nil)}
	b.sink = func(tokens []event.Token, texts []event.Text, _ stamp.Read, _ int) { in.putTokens(tokens, texts) }
	b.begin(resp.Body, &tap, 1, 0, new(atomic.Int64))
	dialect, err := api.ByName("chat")
	if err != nil {
		t.Fatal(err)
	}
	dec := dialect.NewDecoder()
	events := sse.NewReader(&b, sse.Options{})
	b.rest = events.Buffered
	var ev sse.Event
	var part api.Part
	token := func() {
		if ev, err = events.Next(); err != nil {
			t.Fatal(err)
		}
		dec.Decode(&ev, &part)
		b.add(&ev, &part)
	}
	for range 5000 { // the buffers grow to their size
		token()
	}
	before := b.total
	if n := testing.AllocsPerRun(5000, token); n != 0 {
		t.Errorf("%v allocations for a token, want none", n)
	}
	if b.total-before != 5001 { // one run to warm up
		t.Errorf("%d tokens, want 5001", b.total-before)
	}
}
