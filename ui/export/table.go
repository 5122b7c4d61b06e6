package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

// known is what a recording has said so far of its endpoints and of its time 0.
type known struct {
	targets map[uint32]event.Target
	wall    int64 // Unix ns
}

func (k *known) take(ev event.Event) {
	switch ev := ev.(type) {
	case *event.Session:
		k.wall = ev.Wall
	case *event.Target:
		if k.targets == nil {
			k.targets = map[uint32]event.Target{}
		}
		k.targets[ev.ID] = *ev
	}
}

// table writes rows, and keeps the first error.
type table struct {
	known
	w   *csv.Writer
	err error
}

func newTable(out io.Writer, head []string) *table {
	t := &table{w: csv.NewWriter(out)}
	t.row(head)
	return t
}

func (t *table) row(cells []string) {
	if t.err == nil {
		t.err = t.w.Write(cells)
	}
}

func (t *table) event(ev event.Event) error {
	t.take(ev)
	return t.err
}

func (t *table) end() error {
	t.w.Flush()
	if t.err == nil {
		t.err = t.w.Error()
	}
	return t.err
}

// number writes whole nanoseconds and counts; what is not known stays empty.
func number(v int64, known bool) string {
	if !known {
		return ""
	}
	return strconv.FormatInt(v, 10)
}

// words make text from outside safe for a spreadsheet, which takes what begins
// like a formula for one.
func words(s string) string {
	s = format.Clean(format.RedactText(s))
	if strings.ContainsAny(s[:min(len(s), 1)], "=+-@\t\r") {
		return "'" + s
	}
	return s
}

// tokens is a row per token event.
type tokens struct{ *table }

var tokenHead = []string{"target", "request", "stream", "warmup", "event", "at_ns", "gap_ns", "tokens", "channel", "what"}

func newTokens(out io.Writer) writer { return tokens{newTable(out, tokenHead)} }

// ended writes the token events of a request. Times are of the session's clock;
// the gap of the first event is the time to first token.
func (t tokens) ended(target uint32, tr *stats.Trace) {
	for i, c := range tr.Cells() {
		t.row([]string{
			strconv.FormatUint(uint64(target), 10), strconv.FormatUint(tr.ID, 10), strconv.FormatUint(uint64(tr.Slot), 10),
			strconv.FormatBool(tr.Warmup), strconv.Itoa(i + 1), number(c.At, true), number(c.Gap, true),
			number(int64(c.K), c.K > 0), c.Channel.String(), whatOf(i, &c),
		})
	}
}

// whatOf says what the gap before a token event is.
func whatOf(i int, c *stats.Cell) string {
	switch {
	case c.Merged:
		return "client"
	case c.Transport:
		return "transport"
	case i == 0:
		return "first"
	case c.Stall && c.Late:
		return "stall late"
	case c.Stall:
		return "stall"
	case c.Late:
		return "late"
	case c.Burst:
		return "burst"
	}
	return "gap"
}

// requests is a row per request.
type requests struct{ *table }

var requestHead = []string{
	"target", "url", "model", "request", "stream", "warmup", "sent_at", "sent_ns", "ttft_ns", "tpot_ns", "e2e_ns", "max_gap_ns",
	"output_tokens", "token_events", "stalls", "result", "status", "message", "dns_ns", "tcp_ns", "tls_ns", "write_ns",
	"asked_tokens", "prompt_tokens", "client_ns", "transport_ns", "buffered",
}

func newRequests(out io.Writer) writer { return requests{newTable(out, requestHead)} }

func (t requests) ended(target uint32, tr *stats.Trace) {
	r, in := &tr.Request, t.targets[target]
	sent := ""
	if t.wall != 0 {
		sent = time.Unix(0, t.wall+r.Sent).UTC().Format(time.RFC3339Nano)
	}
	t.row([]string{
		strconv.FormatUint(uint64(target), 10), words(format.Redact(in.URL)), words(in.Model),
		strconv.FormatUint(r.ID, 10), strconv.FormatUint(uint64(r.Slot), 10), strconv.FormatBool(r.Warmup), sent,
		number(r.Sent, true), number(r.TTFT, r.TTFT > 0), number(r.TPOT, r.TPOT > 0), number(r.E2E, r.E2E > 0), number(r.MaxGap, r.MaxGap > 0),
		strconv.Itoa(r.N), strconv.Itoa(r.Events), strconv.Itoa(r.Stalls), string(r.Class), number(int64(r.Status), r.Status > 0), words(r.Message),
		number(r.DNS, r.DNS > 0), number(r.TCP, r.TCP > 0), number(r.TLS, r.TLS > 0), number(r.Wrote, r.Wrote > 0),
		strconv.Itoa(r.Asked), number(int64(r.Prompt), r.Prompt > 0), number(r.Merged, true), number(r.Transport, true), strconv.FormatBool(r.Buffered),
	})
}
