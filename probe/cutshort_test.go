package probe

import (
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"teapot/probe/event"
	"teapot/probe/reel"
)

// settled runs a probe until a request has ended for good, and returns how, with
// the number of its token events.
func settled(t testing.TB, cfg event.Config) (end *event.End, tokens int) {
	t.Helper()
	all := watch(t, cfg, func(ev event.Event, controls chan<- event.Control) {
		if e, over := ev.(*event.End); over && !e.SentAgain() {
			select { // one is enough
			case controls <- event.Control{Do: event.DoStop}:
			default:
			}
		}
	})
	for _, e := range of[*event.End](all) {
		if !e.SentAgain() {
			end = e
			break
		}
	}
	if end == nil {
		t.Error("no request ended")
		return &event.End{}, 0
	}
	for _, k := range of[*event.Token](all) {
		if k.Request == end.Request {
			tokens++
		}
	}
	return end, tokens
}

// reasonGiven finds a terminal reason in the bytes of a reply. A mark of the end
// is none.
var reasonGiven = regexp.MustCompile(`"(finish|stop|done)_?[rR]eason\\?": ?[{\\]*"|"(done|stop)": ?true|response\.(completed|incomplete)|chat\.end`)

// cutShort is a reel that ends after some of its bytes, all at once.
func cutShort(r *reel.Reel, length int) *reel.Reel {
	short := *r
	short.Writes, short.Expect = nil, nil
	for _, w := range r.Writes {
		n := min(len(w.Data), length)
		if n == 0 {
			break
		}
		short.Writes = append(short.Writes, reel.Write{Data: w.Data[:n]})
		length -= n
	}
	return &short
}

// cutLengths are those after which a reel is cut: at the end of each write, in
// the middle of it, and before its last byte.
func cutLengths(r *reel.Reel) (lengths []int) {
	at := 0
	for _, w := range r.Writes {
		lengths = append(lengths, at+len(w.Data)/2, at+len(w.Data)-1, at+len(w.Data))
		at += len(w.Data)
	}
	return lengths
}

// A stream that ends before its terminal reason is no success, whichever way
// its connection ends: in order, without the end of the chunks, by a reset, or
// under HTTP/1.0, where the end of the connection is that of the body.
func TestNoPrefixIsASuccess(t *testing.T) {
	paths, _ := filepath.Glob("api/testdata/cases/*.fix")
	ready := make(chan struct{}, 8)
	var plays sync.WaitGroup
	tried := 0
	for _, path := range paths {
		r, err := reel.ReadCase(path)
		if err != nil {
			t.Fatal(err)
		}
		if r.Expect["outcome"] == "ok_unknown_reason" {
			continue // its protocol has no reason, so that its end is all there is
		}
		for i, length := range cutLengths(r) {
			if testing.Short() && i%3 != len(path)%3 {
				continue
			}
			short := cutShort(r, length)
			var sent strings.Builder
			for _, w := range short.Writes {
				sent.Write(w.Data)
			}
			if reasonGiven.MatchString(sent.String()) {
				break
			}
			way := []string{"in order", "without the end of the chunks", "by a reset", "as HTTP/1.0"}[i%4]
			short.End = []reel.End{reel.Clean, reel.NoChunks, reel.Reset, reel.Clean}[i%4]
			short.Old = way == "as HTTP/1.0" || r.Old
			tried++
			plays.Go(func() {
				ready <- struct{}{}
				defer func() { <-ready }()
				s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
					_, _ = short.Play(c, reel.AsIs)
					return false
				})
				cfg := config(s.url, 1)
				cfg.Targets[0].API, cfg.Targets[0].Model = reel.Dialect(path), "model-1"
				e, tokens := settled(t, cfg)
				if !e.Class.Failed() || e.Message == "" || tokens > 0 && e.Class == event.ErrReset {
					t.Errorf("%s, %d bytes that end %s: %s (%s) with %d tokens", r.Name, length, way, e.Class, e.Message, tokens)
				}
			})
		}
	}
	plays.Wait()
	if tried < 100 {
		t.Errorf("only %d prefixes were tried", tried)
	}
}
