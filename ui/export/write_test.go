package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"teapot/probe/event"
	"teapot/stats"
)

func written(t *testing.T, form Format, events []event.Event) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, form, feeder(events), stats.Config{MaxErrorRate: -1}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "canary") {
		t.Errorf("%s holds a secret", form)
	}
	return b.String()
}

func rows(t *testing.T, text string) []map[string]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, row := range all[1:] {
		m := map[string]string{}
		for i, name := range all[0] {
			m[name] = row[i]
		}
		out = append(out, m)
	}
	return out
}

// Every token event has its row, with the very nanoseconds.
func TestTokensReadBack(t *testing.T) {
	events := session(20, 50)
	list := rows(t, written(t, CSV, events))
	var gaps []int64
	i := 0
	for _, ev := range events {
		tok, ok := ev.(*event.Token)
		if !ok {
			continue
		}
		r := list[i]
		i++
		if r["at_ns"] != strconv.FormatInt(tok.At, 10) || r["request"] != strconv.FormatUint(tok.Request, 10) || r["tokens"] != "1" {
			t.Fatalf("row %d is %v, the event %+v", i, r, tok)
		}
		gap, err := strconv.ParseInt(r["gap_ns"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if r["target"] == "1" && r["warmup"] == "false" && r["event"] != "1" {
			gaps = append(gaps, gap)
		}
	}
	slices.Sort(gaps)
	if i != len(list) || !slices.Equal(gaps, gapsOf(events, 1)) {
		t.Errorf("%d rows of %d events; gaps differ: %v", len(list), i, !slices.Equal(gaps, gapsOf(events, 1)))
	}
	whats := map[string]int{}
	for _, r := range list {
		whats[r["what"]]++
	}
	if whats["stall"] == 0 || whats["first"] != 39 || whats["gap"] == 0 {
		t.Errorf("rows by kind: %v", whats)
	}
}

// A request of more tokens than the screen looks back has all of them.
func TestALongReplyIsWhole(t *testing.T) {
	events := session(2, 6000)
	if n := len(rows(t, written(t, CSV, events))); n != 18_000 { // one of the four timed out
		t.Errorf("%d rows, want 18000", n)
	}
}

func TestRequestsReadBack(t *testing.T) {
	list := rows(t, written(t, Requests, session(20, 50)))
	if len(list) != 40 {
		t.Fatalf("%d requests, want 40", len(list))
	}
	failed := 0
	for _, r := range list {
		if r["result"] == "timeout_first" {
			failed++
			if r["ttft_ns"] != "" || !strings.HasPrefix(r["message"], "'=no token") {
				t.Errorf("the timeout: %v", r)
			}
			continue
		}
		if r["ttft_ns"] != "20000000" || r["output_tokens"] != "50" || r["e2e_ns"] == "" {
			t.Errorf("request %v", r)
		}
		if r["target"] == "2" && r["model"] != "'=tea" {
			t.Errorf("a model that a spreadsheet would compute: %q", r["model"])
		}
	}
	if failed != 1 {
		t.Errorf("%d timeouts", failed)
	}
	if list[0]["sent_at"] != "2026-05-28T20:26:40.002Z" {
		t.Errorf("sent at %s", list[0]["sent_at"])
	}
}

// The library reads the log back: every sample once, in its second.
func TestIntervalsReadBack(t *testing.T) {
	events := session(20, 50)
	r := hdr.NewHistogramLogReader(strings.NewReader(written(t, HLog, events)))
	n, sum := map[string]int64{}, hdr.New(1, 3600e9, 3)
	last := map[string]int64{}
	for {
		h, err := r.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		if h.StartTimeMs() < last[h.Tag()] {
			t.Errorf("%s goes back to %d", h.Tag(), h.StartTimeMs())
		}
		last[h.Tag()] = h.StartTimeMs()
		n[h.Tag()] += h.TotalCount()
		if h.Tag() == "gap" {
			sum.Merge(h)
		}
	}
	gaps := gapsOf(events, 1)
	if n["gap"] != int64(len(gaps)) || n["ttft"] != 19 || n["ttft-2"] != 19 {
		t.Errorf("samples by tag: %v, want %d gaps", n, len(gaps))
	}
	for _, p := range []float64{50, 90, 99} {
		want := gaps[int(math.Ceil(p/100*float64(len(gaps))))-1]
		if got := sum.ValueAtPercentile(p); math.Abs(float64(got-want)) > .002*float64(want) {
			t.Errorf("p%v is %d, want %d", p, got, want)
		}
	}
}

// The trace holds to the format: known phases, what each needs, slices that nest.
func TestTraceHoldsToTheFormat(t *testing.T) {
	events := session(20, 50)
	var doc struct {
		DisplayTimeUnit string
		TraceEvents     []struct {
			Name, Ph, Cat, ID, S string
			TS, Dur              *float64
			PID, TID             *uint64
			Args                 map[string]any
		}
	}
	d := json.NewDecoder(strings.NewReader(written(t, Trace, events)))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	open := map[string]float64{}
	ends := map[[2]uint64]float64{} // of the last slice of a kind on a track
	count := map[string]int{}
	evidence := 0
	for i, e := range doc.TraceEvents {
		count[e.Ph+" "+e.Cat]++
		if e.PID == nil || e.TID == nil || e.Name == "" || e.Ph != "M" && e.TS == nil {
			t.Fatalf("event %d lacks something: %+v", i, e)
		}
		switch e.Ph {
		case "M":
			if e.Args["name"] == nil && e.Args["sort_index"] == nil {
				t.Errorf("metadata without a name: %+v", e)
			}
		case "X":
			if e.Dur == nil || *e.Dur < 0 {
				t.Errorf("a slice without a length: %+v", e)
			}
			key := [2]uint64{*e.PID, *e.TID}
			if e.Cat == "gap" && *e.TS+*e.Dur > ends[key]+.002 {
				t.Errorf("slice %s ends at %v, its request at %v", e.Name, *e.TS+*e.Dur, ends[key])
			}
			if e.Cat == "request" {
				ends[key] = *e.TS + *e.Dur
			}
		case "C":
			if _, ok := e.Args["value"].(float64); !ok {
				t.Errorf("a counter without a value: %+v", e)
			}
		case "b":
			open[e.Cat+e.ID] = *e.TS
			if s, _ := e.Args["evidence"].(string); s != "" {
				evidence++
			}
		case "e":
			from, ok := open[e.Cat+e.ID]
			if !ok || *e.TS < from {
				t.Errorf("%s ends and never began", e.ID)
			}
			delete(open, e.Cat+e.ID)
		case "i":
			if e.S != "g" && e.S != "p" && e.S != "t" {
				t.Errorf("an instant of scope %q", e.S)
			}
		default:
			t.Errorf("phase %q", e.Ph)
		}
	}
	if len(open) > 0 {
		t.Errorf("never ended: %v", open)
	}
	if count["X request"] != 40 || count["X gap"] != 39*50 || count["b spike"] == 0 || evidence != count["b spike"] || count["C "] == 0 {
		t.Errorf("events: %v, %d with evidence", count, evidence)
	}
}

func keysOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range strings.Split(string(text), "\n") {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			out = append(out, l)
		}
	}
	return out
}

func TestVLLMKeys(t *testing.T) {
	events := session(20, 50)
	kept := slices.DeleteFunc(slices.Clone(events), func(ev event.Event) bool {
		switch ev := ev.(type) {
		case *event.Target:
			return ev.ID == 2
		case *event.Start:
			return ev.Target == 2
		case *event.Headers:
			return ev.Target == 2
		case *event.Token:
			return ev.Target == 2
		case *event.End:
			return ev.Target == 2
		case *event.Signal:
			return ev.Target == 2
		}
		return false
	})
	var got map[string]any
	if err := json.Unmarshal([]byte(written(t, VLLM, kept)), &got); err != nil {
		t.Fatal(err)
	}
	for _, k := range keysOf(t, "vllm_keys.txt") {
		if _, ok := got[k]; !ok {
			t.Errorf("the key %s is missing", k)
		}
	}
	gaps := gapsOf(events, 1)
	median := float64(gaps[(len(gaps)+1)/2-1]) / 1e6
	if v, _ := got["median_itl_ms"].(float64); math.Abs(v-median) > .002*median {
		t.Errorf("median_itl_ms is %v, want %v", v, median)
	}
	sum := 0.0
	for _, g := range gaps {
		sum += float64(g)
	}
	mean, dev := sum/float64(len(gaps)), 0.0
	for _, g := range gaps {
		dev += (float64(g) - mean) * (float64(g) - mean)
	}
	dev = math.Sqrt(dev/float64(len(gaps))) / 1e6
	if v, _ := got["std_itl_ms"].(float64); math.Abs(v-dev) > .005*dev {
		t.Errorf("std_itl_ms is %v, want %v", v, dev)
	}
	for k, want := range map[string]float64{"completed": 18, "failed": 1, "num_prompts": 19, "total_output_tokens": 900, "total_input_tokens": 18 * 130} {
		if got[k] != want {
			t.Errorf("%s is %v, want %v", k, got[k], want)
		}
	}
	if got["p99.99_itl_ms"] != nil {
		t.Error("a percentile that does not exist has a value")
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(written(t, VLLM, events)), &list); err != nil || len(list) != 2 {
		t.Fatalf("of two endpoints: %d results, %v", len(list), err)
	}
	if a, b := slices.Sorted(maps.Keys(list[0])), slices.Sorted(maps.Keys(list[1])); !slices.Equal(a, b) {
		t.Error("two results have different keys")
	}
}

// A recording that ends in a fault is written as far as it goes.
func TestWhatWasReadIsWritten(t *testing.T) {
	events := session(4, 10)
	fault := errors.New("cut off")
	for _, form := range []Format{Trace, CSV, Requests, HLog, VLLM} {
		next := feeder(events)
		n := 0
		var b bytes.Buffer
		err := Write(&b, form, func() (event.Event, error) {
			if n++; n > 60 {
				return nil, fault
			}
			return next()
		}, stats.Config{MaxErrorRate: -1})
		if !errors.Is(err, fault) || b.Len() < 100 {
			t.Errorf("%s: %v after %d bytes", form, err, b.Len())
		}
		if (form == Trace || form == VLLM) && !json.Valid(b.Bytes()) {
			t.Errorf("%s is no JSON", form)
		}
		if err := Write(full{}, form, feeder(session(20, 200)), stats.Config{MaxErrorRate: -1}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s on a full disk: %v", form, err)
		}
		if err := Write(io.Discard, form, feeder(nil), stats.Config{}); err != nil {
			t.Errorf("%s of nothing: %v", form, err)
		}
	}
	if err := Write(io.Discard, "nonsense", feeder(nil), stats.Config{}); err == nil {
		t.Error("nonsense is a format")
	}
}

// full takes nothing.
type full struct{}

// Write fails.
func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A reply that is shorter than what was asked for is complete, and counts once.
func TestShortRepliesCountOnce(t *testing.T) {
	evs := []event.Event{&event.Session{}, &event.Target{ID: 1, URL: "http://x", API: "chat"}}
	for req := range uint64(3) {
		at := int64(1+req) * 1e9
		evs = append(evs, &event.Start{At: at, Target: 1, Request: req + 1, Asked: 64},
			&event.Token{At: at + 1e7, Target: 1, Request: req + 1, K: 1}, &event.Token{At: at + 2e7, Target: 1, Request: req + 1, K: 1},
			&event.End{At: at + 3e7, Target: 1, Request: req + 1, Class: event.OKShort, N: 2, Count: event.CountUsage})
	}
	var got struct{ Completed int }
	if err := json.Unmarshal([]byte(written(t, VLLM, evs)), &got); err != nil || got.Completed != 3 {
		t.Errorf("%d of 3 are complete, %v", got.Completed, err)
	}
}
