package command

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/stats"
	"teapot/ui/report"
)

// drawSession draws the events of a session with everything that a report
// depends on: two targets, errors of all kinds, marks, settings, restarts, what
// servers say, stops of this client, lost events, figures emptied by hand.
func drawSession(t *rapid.T) []event.Event {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
	evs := []event.Event{&event.Session{
		Wall: 1_700_000_000e9, Version: "0", Source: event.SourceKernel, Load: event.Load{Concurrency: 2, MaxTokens: 20},
		Limits: &event.Limits{First: 30e9}, Judge: &event.Judge{},
	}}
	classes := []event.Class{
		event.OKFull, event.OKFull, event.OKFull, event.OKShort, event.OKUnknownReason, event.Aborted,
		event.ErrHTTP, event.ErrOverload, event.ErrIdle, event.ErrFirst, event.ErrTruncated, event.ErrStream, "from a later version",
	}
	at := int64(1e6)
	put := func(ev event.Event) { evs = append(evs, ev) }
	for id := uint64(1); id <= uint64(rapid.IntRange(4, 40).Draw(t, "requests")); id++ {
		target := 1 + uint32(r.IntN(2))
		odd := rapid.IntRange(0, 11).Draw(t, "what happens")
		switch odd {
		case 0:
			put(&event.Mark{At: at, Label: "m", Auto: r.IntN(2) == 0, Amends: r.IntN(4) == 0})
		case 1:
			put(&event.Setting{At: at, Name: "concurrency", From: "1", To: "4"})
		case 2:
			put(&event.Target{At: at, ID: target, URL: "http://h:1", State: event.StateDown, Detail: "refused"})
			put(&event.Target{At: at + 2e9, ID: target, URL: "http://h:1", State: event.StateLive, Version: "2"})
		case 3:
			put(&event.Signal{At: at, Target: target, Source: "metrics", Took: 2e6, Bytes: 900, Span: 1e9, Restart: r.IntN(3) == 0,
				Values: []event.Sample{{Name: "waiting", Value: float64(r.IntN(9))}, {Name: "preemptions", Value: 7, Delta: float64(r.IntN(3))}}})
		case 4:
			put(&event.Floor{At: at + 3e9, Wall: 1_700_000_000e9 + at, Overshoot: r.Int64N(4e9), Late: []int64{1, 2, r.Int64N(1e7)}, Reads: 9, RSS: 1e7})
		case 5:
			put(&event.Dropped{At: at, Texts: 3, Events: uint64(r.IntN(3))})
		case 6:
			put(&event.Reset{At: at, Session: r.IntN(2) == 0})
		case 7:
			put(&event.Skip{At: at, Target: target, Reason: event.SkipSchedule, Count: 2})
		case 8:
			put(&event.Note{At: at, Level: "error", Text: "something broke"})
		}
		start := &event.Start{At: at, Target: target, Request: id, Slot: uint32(id % 3), Asked: 20, Prompt: 50, Reused: r.IntN(2) == 0, Warmup: id == 1}
		if r.IntN(3) == 0 {
			start.Scheduled = max(at-r.Int64N(5e7), 1)
		}
		put(start)
		put(&event.Headers{At: at + 1e6, Target: target, Request: id, Status: 200, Source: event.SourceKernel, RTT: 1e5})
		n := r.IntN(30)
		for k := range n {
			at += int64(1e6 + r.ExpFloat64()*8e6)
			if r.IntN(40) == 0 {
				at += r.Int64N(2e9)
			}
			put(&event.Token{At: at, Target: target, Request: id, Slot: uint32(id % 3), K: uint32(r.IntN(3)), Late: r.Int64N(3e6),
				Burst: uint32(r.IntN(8) / 7), Bytes: 4, Channel: event.Channel(r.IntN(2)), Merged: r.IntN(30) == 0})
			put(&event.Text{At: at, Request: id, Text: fmt.Sprint("word", k)})
		}
		at += r.Int64N(1e9)
		end := &event.End{At: at, Target: target, Request: id, Slot: uint32(id % 3), Class: classes[r.IntN(len(classes))], N: n,
			Count: event.CountUsage, Warmup: id == 1, Status: 200, Message: "so it went", Limit: 5e9}
		if r.IntN(3) == 0 {
			end.Server = &event.ServerTimings{PromptN: 50, Prompt: 1e7, DecodeN: n, Decode: 3e8, Queue: r.Int64N(1e8), Retracted: r.IntN(2)}
		}
		put(end)
	}
	if rapid.Bool().Draw(t, "it ends by itself") {
		put(&event.Finished{At: at, Complete: true, Reason: "requests"})
	}
	return evs
}

func strict() stats.Config {
	return stats.Config{
		MaxErrorRate: 0.01, Retention: 15 * time.Minute, ExcludeLate: true,
		SLO: []stats.SLO{{Expr: "gap<=10ms:99%", Metric: "gap", Limit: 10e6, Goal: .99}},
	}
}

// jsonOf is the report of events as they come, by way of a Feed whose screen
// asks for a snapshot every so many events.
func jsonOf(t *rapid.T, next func() (event.Event, error), every int) string {
	f := stats.NewFeed(strict(), next, time.Hour)
	n := 0
	f.Tee(func(event.Event) { n++ })
	if every > 0 {
		inner := next
		f = stats.NewFeed(strict(), func() (event.Event, error) {
			if n++; n%every == 0 {
				f.Do(func(a *stats.Aggregator) { a.Snapshot() })
			}
			return inner()
		}, time.Hour)
	}
	if err := f.Run(); err != nil {
		t.Fatal(err)
	}
	out, err := report.Render(f.Snapshot(), "json", report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func each(evs []event.Event) func() (event.Event, error) {
	i := 0
	return func() (event.Event, error) {
		if i == len(evs) {
			return nil, io.EOF
		}
		i++
		return evs[i-1], nil
	}
}

// sink is a file in memory.
type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

// recordingOf is what a Recorder makes of events.
func recordingOf(t *rapid.T, evs []event.Event, text bool) []byte {
	var file sink
	rec, err := record.NewRecorder(&file, record.Options{Compress: true, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range evs {
		rec.Put(ev)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Any session reports from its recording what it reported live, however often
// somebody looked, with the words in the recording or without.
func TestAnySessionReportsTheSameFromItsRecording(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		evs := drawSession(t)
		live := jsonOf(t, each(evs), rapid.IntRange(1, 50).Draw(t, "a look every"))
		for _, text := range []bool{false, true} {
			r, err := record.NewReader(bytes.NewReader(recordingOf(t, evs, text)))
			if err != nil {
				t.Fatal(err)
			}
			if again := jsonOf(t, r.Next, 0); again != live {
				t.Fatalf("text %v: live (-) and again (+)\n%s", text, cmp.Diff(strings.Split(live, "\n"), strings.Split(again, "\n")))
			}
		}
	})
}

// A recording cut anywhere in its last block gives the report of all blocks
// before it, and says that it is cut.
func TestARecordingCutAtEveryByteOfItsLastBlock(t *testing.T) {
	evs := rapid.Custom(drawSession).Example(7)
	var b bytes.Buffer
	w, err := record.NewWriter(&b, record.Options{Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	last := max(len(evs)-6, 1)
	var before int
	for i, ev := range evs {
		if i == last {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			before = b.Len()
		}
		if err := w.Add(ev); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	get := func(n int) (string, *stats.Snapshot) {
		file := filepath.Join(dir, "cut")
		if err := os.WriteFile(file, b.Bytes()[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := snapshotOf(file, strict())
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		damaged := *s
		damaged.Damaged, damaged.Seq = "", 0
		out, err := report.Render(&damaged, "json", report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return out, s
	}
	want, whole := get(before)
	if whole.Damaged != "" {
		t.Fatalf("a whole block: %q", whole.Damaged)
	}
	for n := before + 1; n < b.Len(); n++ {
		out, s := get(n)
		if out != want {
			t.Fatalf("cut at byte %d of %d: it differs from the blocks before", n, b.Len())
		}
		if !strings.HasPrefix(s.Damaged, fmt.Sprintf("recording cut off at byte %d: its last block is incomplete", before)) {
			t.Fatalf("cut at byte %d it says %q", n, s.Damaged)
		}
	}
}
