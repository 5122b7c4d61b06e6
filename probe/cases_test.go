package probe

import (
	"bytes"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
	"teapot/probe/reel"
	"teapot/probe/sse"
)

// heardReel is what a whole probe made of a reel that a server played to it
// over TCP.
type heardReel struct {
	end    *event.End
	start  *event.Start
	head   *event.Headers // nil: none came
	tokens []*event.Token
	times  []reel.Times // of the server's writes
}

// crowd runs tests that mostly wait, more of them at once than there are
// processors.
type crowd struct {
	sync.WaitGroup
	room chan struct{}
}

func newCrowd(most int) *crowd { return &crowd{room: make(chan struct{}, most)} }

func (c *crowd) run(t *testing.T, name string, test func(t *testing.T)) {
	c.Go(func() {
		c.room <- struct{}{}
		defer func() { <-c.room }()
		t.Run(name, test)
	})
}

// hear has a probe ask for a reel. asked is the number of tokens that it wants.
func hear(t *testing.T, r *reel.Reel, way reel.Way, dialect string, asked int) heardReel {
	t.Helper()
	var got heardReel
	played := make(chan struct{})
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		defer close(played)
		got.times, _ = r.Play(c, way) // a client that has seen an error may hang up
		return false
	})
	cfg := config(s.url, 1)
	cfg.Targets[0].API, cfg.Targets[0].Model = dialect, "model-1"
	cfg.Load.MaxTokens, cfg.GiveUp = max(asked, 1), true
	cfg.Limits = event.Limits{First: time.Minute, Idle: time.Minute}
	all := watchUntil(t, cfg)
	<-played
	got.end, got.start = only[*event.End](t, all), only[*event.Start](t, all)
	if heads := of[*event.Headers](all); len(heads) > 0 {
		got.head = heads[0]
	}
	for _, k := range of[*event.Token](all) {
		if k.Request == got.end.Request {
			got.tokens = append(got.tokens, k)
		}
	}
	return got
}

// watchUntil watches a run of one request, however it ends.
func watchUntil(t *testing.T, cfg event.Config) []event.Event {
	t.Helper()
	return watch(t, cfg, func(ev event.Event, controls chan<- event.Control) {
		if _, over := ev.(*event.End); over {
			controls <- event.Control{Do: event.DoStop}
		}
	})
}

// expected is what the reel's own floor makes of it: the write that completed
// each token event, and how many tokens there are.
type expected struct {
	writes []int
	n      int
	class  event.Class
}

// decodeReel hands the writes of a reel to a decoder, one after the other.
func decodeReel(t *testing.T, r *reel.Reel, dialect string) expected {
	t.Helper()
	d, err := api.ByName(dialect)
	if err != nil {
		t.Fatal(err)
	}
	dec := d.NewDecoder()
	src := &feed{r: r}
	events := sse.NewReader(src, sse.Options{Hint: sse.FormatOf(r.ContentType())})
	var out expected
	var p api.Part
	for {
		ev, err := events.Next()
		if err != nil {
			break
		}
		dec.Decode(&ev, &p)
		if p.Evidence {
			out.writes = append(out.writes, int(ev.Read)-1)
		}
	}
	dec.Framed(events.Format())
	var end error
	if r.End != reel.Clean && !r.Old {
		end = net.ErrClosed
	}
	n := dec.Result(0, end).N
	res := dec.Result(n, end)
	out.n, out.class = res.N, res.Class
	return out
}

// feed reads one write of a reel at a time.
type feed struct {
	r *reel.Reel
	b bytes.Reader
	i int
}

func (f *feed) Read(p []byte) (int, error) {
	if f.b.Len() == 0 && f.i < len(f.r.Writes) {
		f.b.Reset(f.r.Writes[f.i].Data)
		f.i++
	}
	return f.b.Read(p)
}

// clockSlop is by how much the kernel may stamp a segment later than it was
// written, on a machine that is busy.
const clockSlop = 100 * time.Millisecond

// onTime holds the stamps of token events against the times of the writes that
// completed them. A gap that the probe does not stand for is left out.
func (h *heardReel) onTime(t *testing.T, writes []int) {
	t.Helper()
	for i := 1; i < len(h.tokens); i++ {
		if h.tokens[i].Merged || h.tokens[i].Burst > 0 {
			continue
		}
		if writes[i] >= len(h.times) {
			t.Fatalf("the server made %d writes, and write %d was heard", len(h.times), writes[i]+1)
		}
		from, to := h.times[writes[i-1]], h.times[writes[i]]
		gap := time.Duration(h.tokens[i].At - h.tokens[i-1].At)
		if least := to.Begun.Sub(from.Done) - clockSlop; gap < least {
			t.Errorf("gap %d is %v, and the server made one of at least %v", i, gap, least+clockSlop)
		}
		if most := to.Done.Sub(from.Begun) + clockSlop; gap > most {
			t.Errorf("gap %d is %v, and the server made one of at most %v", i, gap, most-clockSlop)
		}
	}
}

// check holds what the probe said against what the case expects.
func (h *heardReel) check(t *testing.T, r *reel.Reel, want expected, way reel.Way) {
	t.Helper()
	outcome := map[string][]event.Class{
		"ok": {event.OKFull, event.OKShort, event.OKUnknownReason}, "ok_full": {event.OKFull}, "ok_short": {event.OKShort},
		"ok_unknown_reason": {event.OKUnknownReason}, "error_stream": {event.ErrStream}, "truncated": {event.ErrTruncated},
	}[r.Expect["outcome"]]
	if !slices.Contains(outcome, h.end.Class) {
		t.Errorf("outcome %s (%s), want %s", h.end.Class, h.end.Message, r.Expect["outcome"])
	}
	for _, key := range []string{"tokens", "tokens_seen"} {
		if n, err := strconv.Atoi(r.Expect[key]); err == nil && h.end.N != n {
			t.Errorf("%d tokens, want %d", h.end.N, n)
		}
	}
	if r.Expect["tokens"] == "unknown" && h.end.Count != event.CountEvents {
		t.Errorf("counted by %v", h.end.Count)
	}
	if len(h.tokens) != len(want.writes) {
		t.Fatalf("%d token events, want %d", len(h.tokens), len(want.writes))
	}
	if n, err := strconv.Atoi(r.Expect["token_events"]); err == nil && len(h.tokens) != n {
		t.Errorf("%d token events, want %d", len(h.tokens), n)
	}
	if len(h.tokens) > 0 && h.end.FirstByte > h.tokens[0].At {
		t.Errorf("the first token came %v before the first byte", time.Duration(h.end.FirstByte-h.tokens[0].At))
	}
	h.work(t, r)
	if len(h.tokens) == 0 {
		return
	}
	first := want.writes[0]
	if way == reel.AtOnce {
		first = len(r.Writes) - 1
	} else {
		h.onTime(t, want.writes)
	}
	// The server heard of the request after it was sent.
	if ttft, least := time.Duration(h.tokens[0].At-h.start.At), r.Writes[first].At; ttft < least-clockSlop {
		t.Errorf("the first token came after %v, and the server wrote it after %v", ttft, least)
	}
}

// work holds what the server said of its own work against what the case says of
// that, in ms.
func (h *heardReel) work(t *testing.T, r *reel.Reel) {
	t.Helper()
	said := h.end.Server
	if said == nil {
		said = &event.ServerTimings{}
	}
	for key, got := range map[string]int64{
		"server_queue_ms": said.Queue, "server_prefill_ms": said.Prompt, "server_tpot_ms": said.PerToken, "server_load_ms": said.Load,
	} {
		if want := r.Expect[key]; want != "" && strconv.FormatFloat(float64(got)/1e6, 'f', -1, 64) != want {
			t.Errorf("%s is %v, want %s", key, time.Duration(got), want)
		}
	}
}

// Every case that is written down, played over TCP in three ways, gives the
// whole probe what it is said to give.
func TestCasesOverTCP(t *testing.T) {
	paths, _ := filepath.Glob("api/testdata/cases/*.fix")
	if len(paths) < 45 {
		t.Fatalf("only %d cases were found", len(paths))
	}
	plays := newCrowd(8) // a probe each
	defer plays.Wait()
	for _, path := range paths {
		r, err := reel.ReadCase(path)
		if err != nil {
			t.Fatal(err)
		}
		dialect := reel.Dialect(path)
		want := decodeReel(t, r, dialect)
		for _, way := range []reel.Way{reel.AsIs, reel.Bytes, reel.AtOnce} {
			plays.run(t, r.Name+"/"+way.String(), func(t *testing.T) {
				h := hear(t, r, way, dialect, want.n)
				h.check(t, r, want, way)
			})
		}
	}
}

// Every stream that a real server sent, played again at its own times (those
// of the long ones squeezed), gives the figures that can be read from it.
func TestTranscriptsOverTCP(t *testing.T) {
	plays := newCrowd(16)
	defer plays.Wait()
	for _, c := range []struct {
		file           string
		asked, n, seen int
		class          event.Class
	}{
		{"A_chat_stream", 12, 12, 12, event.OKFull}, {"A_chat_stream_usage", 12, 12, 12, event.OKFull},
		{"A_chat_stream_timings", 12, 12, 12, event.OKFull}, {"A_chat_stream_emoji", 40, 40, 40, event.OKFull},
		{"A_chat_stream_eos", 300, 143, 35, event.OKShort}, {"A_chat_stream_logprobs", 3, 3, 3, event.OKFull},
		{"A_chat_stream_max1", 1, 1, 1, event.OKFull}, {"A_chat_stream_n2", 6, 6, 12, event.OKFull},
		{"A_cmpl_stream", 8, 8, 8, event.OKFull}, {"A_cmpl_stream_usage", 8, 8, 8, event.OKFull},
		{"G_SIGKILL_mid_stream", 200, 15, 15, event.ErrTruncated}, {"G_SIGTERM_mid_stream", 200, 14, 14, event.ErrTruncated},
		{"I_ping_1s", 5, 5, 5, event.OKFull}, {"J_prefill_progress", 10, 10, 10, event.OKFull},
		{"A_native_stream", 8, 8, 8, event.OKFull}, {"A_native_stream_timings", 4, 4, 4, event.OKFull},
		{"A_messages_stream", 8, 8, 8, event.OKFull}, {"A_responses_stream", 8, 8, 8, event.OKFull},
		{"O_chat", 12, 12, 12, event.OKFull}, {"O_generate_warm", 12, 12, 12, event.OKFull},
		{"O_generate_cold", 6, 6, 6, event.OKFull}, {"P_ollama_runner_killed_api_chat", 2000, 9, 9, event.ErrStream},
		{"O_v1_chat_stream_usage", 8, 8, 8, event.OKFull},
	} {
		plays.run(t, c.file, func(t *testing.T) {
			r, err := reel.ReadTranscript("api/testdata/recorded/" + c.file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			r.Within(2 * time.Second)
			if c.class == event.ErrTruncated {
				r.End = reel.NoChunks
			}
			h := hear(t, r, reel.AsIs, reel.Dialect(c.file), c.asked)
			if h.end.Class != c.class || h.end.N != c.n || len(h.tokens) != c.seen {
				t.Errorf("%s (%s), %d tokens in %d events; want %s, %d in %d", h.end.Class, h.end.Message, h.end.N, len(h.tokens), c.class, c.n, c.seen)
			}
			var sum int64
			for i := 1; i < len(h.tokens); i++ {
				sum += h.tokens[i].At - h.tokens[i-1].At
			}
			if len(h.times) == 0 {
				t.Fatal("the server made no write")
			}
			if first, last := h.times[0].Begun, h.times[len(h.times)-1].Done; time.Duration(sum) > last.Sub(first)+clockSlop {
				t.Errorf("the gaps are %v together, and the server was through in %v", time.Duration(sum), last.Sub(first))
			}
		})
	}
}
