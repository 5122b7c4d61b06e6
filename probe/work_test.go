package probe

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"teapot/probe/event"
)

// A server that says inside of a stream that it has too much to do works: it is
// left alone for a little, and is not down.
func TestOverloadInsideOfAStream(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]string{
		"SGLang": `data: {"error":{"object":"error","message":"The request queue is full.","type":"SERVICE_UNAVAILABLE","param":null,"code":503}}` + "\n\n" + done,
		"TGI":    `data: {"error":"Model is overloaded","error_type":"overloaded"}` + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(n int, c net.Conn, _ *http.Request) bool {
				if n > inARow {
					return full(c)
				}
				io.WriteString(c, streamHead)
				say(c, said)
				io.WriteString(c, lastOne)
				return true
			})
			all := watch(t, config(s.url, inARow+1), nil)
			ends, starts := of[*event.End](all), of[*event.Start](all)
			for i, e := range ends {
				if want := map[bool]event.Class{true: event.OKFull, false: event.ErrStream}[i == inARow]; e.Class != want {
					t.Errorf("end %d: %s (%s), want %s", i+1, e.Class, e.Message, want)
				}
			}
			for _, e := range of[*event.Target](all) {
				if e.State == event.StateDown {
					t.Errorf("it is called down: %s", e.Detail)
				}
			}
			if wait := time.Duration(starts[1].At - ends[0].At); wait < busySlotWait {
				t.Errorf("asked again after %v", wait)
			}
		})
	}
}

// What the header says of the server's work stands beside what the reply says.
func TestTheServersTimesInTheHeader(t *testing.T) {
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nOpenai-Processing-Ms: 210\r\nX-Queue-Time: 12\r\nTransfer-Encoding: chunked\r\n\r\n")
		say(c, role, tok("a"), tok("b"), length, usage(2), done)
		io.WriteString(c, lastOne)
		return true
	})
	e := only[*event.End](t, watch(t, config(s.url, 1), nil))
	if got := e.Server; e.Class != event.OKFull || got == nil || got.Queue != int64(12*time.Millisecond) || got.Replied != int64(210*time.Millisecond) {
		t.Errorf("end: %+v, the server's times %+v", e, got)
	}
}
