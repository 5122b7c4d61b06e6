package probe

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
)

func TestOneRequest(t *testing.T) {
	var asked string
	s := serve(t, func(_ int, c net.Conn, r *http.Request) bool {
		b, _ := io.ReadAll(r.Body)
		asked = r.URL.Path + " " + string(b)
		return full(c)
	})
	all := watch(t, config(s.url, 1), nil)

	session, finished := only[*event.Session](t, all), only[*event.Finished](t, all)
	if all[0] != event.Event(session) || all[len(all)-1] != event.Event(finished) {
		t.Error("a stream of events begins with Session and ends with Finished")
	}
	if !finished.Complete || finished.Reason != ReasonRequests {
		t.Errorf("finished: %+v", finished)
	}
	start, head, end := only[*event.Start](t, all), only[*event.Headers](t, all), only[*event.End](t, all)
	tokens, texts := of[*event.Token](all), of[*event.Text](all)
	if len(tokens) != 2 || len(texts) != 2 || texts[0].Text+texts[1].Text != "ab" {
		t.Fatalf("%d tokens and texts %v", len(tokens), texts)
	}
	if !(start.At <= head.At && head.At <= tokens[0].At && tokens[0].At <= tokens[1].At && tokens[1].At <= end.At) {
		t.Errorf("out of order: start %d headers %d tokens %d %d end %d", start.At, head.At, tokens[0].At, tokens[1].At, end.At)
	}
	if start.Asked != 2 || start.Prompt != 16 || start.Request != 1 || start.Warmup || start.Scheduled != 0 {
		t.Errorf("start: %+v", start)
	}
	if head.Status != 200 || head.Proto != "HTTP/1.1" {
		t.Errorf("headers: %+v", head)
	}
	want := &event.End{
		At: end.At, Target: 1, Request: 1, Class: event.OKFull, Status: 200, Finish: "length",
		N: 2, Count: event.CountUsage, Prompt: 7, FirstByte: end.FirstByte,
	}
	same(t, "end", want, end)
	if end.FirstByte < head.At || end.FirstByte > tokens[0].At {
		t.Errorf("first byte at %d, headers at %d, first token at %d", end.FirstByte, head.At, tokens[0].At)
	}
	if !strings.HasPrefix(asked, "/v1/chat/completions {") || !strings.Contains(asked, `"model":"tiny"`) || !strings.Contains(asked, `"max_tokens":2`) {
		t.Errorf("asked %s", asked)
	}
	var states []event.State
	for _, ev := range of[*event.Target](all) {
		if len(states) == 0 || states[len(states)-1] != ev.State {
			states = append(states, ev.State)
		}
	}
	same(t, "states", []event.State{event.StateConnecting, event.StateLive, event.StateDone}, states)
}

func TestBurstOfOneRead(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, streamHead)
		var b strings.Builder
		say(&b, tok("a"), tok("b"), tok("c"), length, usage(3), done)
		io.WriteString(c, b.String()+lastOne)
		return true
	})
	tokens := of[*event.Token](watch(t, config(s.url, 1), nil))
	if len(tokens) != 3 {
		t.Fatalf("%d tokens", len(tokens))
	}
	for i, tok := range tokens {
		if tok.Burst != uint32(i) || tok.At != tokens[0].At || tok.Merged != tokens[0].Merged || tok.Bytes != 1 {
			t.Errorf("token %d: %+v", i, tok)
		}
	}
}

func TestWarmupIsMarked(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	cfg := config(s.url, 2)
	cfg.Load.Warmup, cfg.Load.Concurrency = 3, 2
	all := watch(t, cfg, nil)
	var warm, measured int
	for _, e := range of[*event.Start](all) {
		if !e.Warmup {
			measured++
			continue
		}
		warm++
		if measured > 0 {
			t.Error("a warm-up request was sent after a measured one")
		}
	}
	for _, e := range of[*event.End](all) {
		if e.Warmup != (e.Request <= 3) {
			t.Errorf("end of request %d: warm-up %v", e.Request, e.Warmup)
		}
	}
	if warm != 3 || measured != 2 {
		t.Errorf("%d warm-up and %d measured requests, want 3 and 2", warm, measured)
	}
}

func TestStaleConnectionIsNoError(t *testing.T) {
	s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 2 { // takes the request on the kept connection, and is gone
			c.(*net.TCPConn).SetLinger(0)
			return false
		}
		return full(c)
	})
	all := watch(t, config(s.url, 2), nil)
	ends := of[*event.End](all)
	if len(ends) != 3 {
		t.Fatalf("%d ends, want 3", len(ends))
	}
	if e := ends[1]; e.Class != event.Aborted || !e.SentAgain() || e.Flags[0] != event.FlagRetried {
		t.Errorf("the stale try: %+v", e)
	}
	if e := ends[2]; e.Class != event.OKFull || len(e.Flags) != 1 || e.Flags[0] != event.FlagRetried {
		t.Errorf("the second try: %+v", e)
	}
	starts := of[*event.Start](all)
	if !starts[1].Reused || starts[2].Reused || starts[2].At < ends[1].At {
		t.Errorf("starts: %+v %+v", starts[1], starts[2])
	}
	if f := only[*event.Finished](t, all); f.Reason != ReasonRequests {
		t.Errorf("finished: %+v", f)
	}
}

func TestRejectedFieldIsDropped(t *testing.T) {
	var bodies []string
	s := serve(t, func(_ int, c net.Conn, r *http.Request) bool {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		if strings.Contains(string(b), `"stream_options"`) {
			plain(c, 400, "application/json", `{"error":{"message":"Unrecognized request argument supplied: stream_options","param":"stream_options"}}`)
			return true
		}
		return full(c)
	})
	ends := of[*event.End](watch(t, config(s.url, 2), nil))
	if len(ends) != 3 || len(bodies) != 3 {
		t.Fatalf("%d ends and %d requests, want 3", len(ends), len(bodies))
	}
	for i, want := range []event.Class{event.Aborted, event.OKFull, event.OKFull} {
		e := ends[i]
		if e.Class != want || e.Flags[0] != event.FlagFieldDropped || e.SentAgain() != (i == 0) {
			t.Errorf("end %d: %+v", i, e)
		}
	}
	if ends[0].Status != 400 || !strings.Contains(ends[0].Message, "stream_options") {
		t.Errorf("the rejected try: %+v", ends[0])
	}
	if strings.Contains(bodies[2], "stream_options") {
		t.Errorf("forgotten by the next request: %s", bodies[2])
	}
}

func TestGzipThatWasNotAskedFor(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, r *http.Request) bool {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("Accept-Encoding %q", got)
		}
		zipped := gzipped(t, role+tok("a")+tok("b")+length+usage(2)+done)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
		say(c, zipped)
		io.WriteString(c, lastOne)
		return true
	})
	e := only[*event.End](t, watch(t, config(s.url, 1), nil))
	if e.Class != event.OKFull || e.N != 2 || len(e.Flags) != 1 || e.Flags[0] != event.FlagCompressed {
		t.Errorf("end: %+v", e)
	}
}

func TestBodyThatStaysOpenAfterItsEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, streamHead)
		say(c, tok("a"), tok("b"), length, usage(2), done) // and no last chunk
		io.Copy(io.Discard, c)
		return false
	})
	e := only[*event.End](t, watch(t, config(s.url, 1), nil))
	if e.Class != event.OKFull || e.N != 2 {
		t.Errorf("end: %+v", e)
	}
}

func TestAbortedAtTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, streamHead)
		say(c, tok("a"))
		io.Copy(io.Discard, c)
		return false
	})
	cfg := config(s.url, 0)
	cfg.Load.Duration = time.Second
	cfg.Limits.Grace = 100 * time.Millisecond
	all := watch(t, cfg, nil)
	if e := only[*event.End](t, all); e.Class != event.Aborted || e.Message != "" {
		t.Errorf("end: %+v", e)
	}
	if f := only[*event.Finished](t, all); !f.Complete || f.Reason != ReasonDuration {
		t.Errorf("finished: %+v", f)
	}
}
