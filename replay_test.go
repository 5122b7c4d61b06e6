package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
				t.Fatalf("text %v: live\n%s\nagain\n%s", text, live, again)
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

// Files that are no sound recording get one clear line each, their code, and
// what can be saved of them.
func TestUnsoundRecordings(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	if _, diag, code := run(t, "report", "demo:smooth", "-n", "4", "--max-tokens", "30", "--record", sound, "--output-format", "none"); code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	b, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(b)
	binary.LittleEndian.PutUint16(newer[8:], record.Version+1)
	binary.LittleEndian.PutUint32(newer[12:], castagnoli(newer[:12]))
	flipped := bytes.Clone(b)
	flipped[len(b)/2] ^= 0x10
	for _, c := range []struct {
		name   string
		bytes  []byte
		code   int
		line   string
		report bool
	}{
		{"cut", b[:len(b)-9], 0, "recording cut off at byte", true},
		{"flipped", flipped, 0, "recording damaged at byte", true},
		{"foreign", []byte("PK\x03\x04 this is something else altogether"), 1, "not a teapot recording", false},
		{"newer", newer, 1, "written by a newer teapot: format 2, this one reads up to 1", false},
		{"empty", nil, 1, "not a teapot recording: it is empty", false},
		{"text mode", append([]byte("teapot\n"), b[8:]...), 1, "a transfer in text mode changed its line ends", false},
		{"header alone", b[:16], 1, "nothing was recorded in it", true},
	} {
		file := filepath.Join(dir, "run "+c.name)
		if err := os.WriteFile(file, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"report", "replay"} {
			out, diag, code := run(t, command, file, "--output-format", "markdown")
			if code != c.code || (out != "") != c.report || !strings.Contains(diag, c.line) {
				t.Errorf("%s %s: exit %d, %d bytes of report, %q", command, c.name, code, len(out), diag)
			}
			if lines := strings.Split(strings.TrimSpace(diag), "\n"); command == "report" && (len(lines) != 1 || !strings.HasPrefix(lines[0], "teapot: "+file)) {
				t.Errorf("%s %s says %q", command, c.name, diag)
			}
		}
	}
}

// A process that is killed leaves a recording of all it had written, which was
// everything but the last moment.
func TestAKilledRunLeavesItsRecording(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "run")
	cmd := teapot("report", "demo:smooth", "-c", "2", "-d", "60s", "--record", rec, "--output-format", "none")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var had *stats.Snapshot
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		s, err := snapshotOf(rec, strict())
		if err == nil && len(s.Targets) > 0 && s.Targets[0].Session.Gap.N > 100 {
			had = s
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing is recorded: %v", err)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s, err := snapshotOf(rec, strict())
	if err != nil {
		t.Fatal(err)
	}
	if s.Now < had.Now || s.Targets[0].Session.Gap.N < had.Targets[0].Session.Gap.N {
		t.Errorf("at %d with %d gaps; before it was killed at %d with %d", s.Now, s.Targets[0].Session.Gap.N, had.Now, had.Targets[0].Session.Gap.N)
	}
	out, diag, code := run(t, "report", rec)
	if code != 0 || !strings.Contains(out, "incomplete") {
		t.Errorf("exit %d, %q:\n%s", code, diag, out)
	}
}

// What is secret, and what was asked, is in no recording; what was answered is
// in one that was asked to hold it, and comes back in a replay.
func TestWhatARecordingHolds(t *testing.T) {
	url, _ := engine(t, "smooth")
	dir := t.TempDir()
	const key, prompt, header = "KEYcanary", "PROMPTcanary", "HEADERcanary"
	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("TEAPOT_HEADER", "X-Team: "+header)
	for _, text := range []bool{false, true} {
		rec := filepath.Join(dir, fmt.Sprint("text ", text))
		args := []string{"report", strings.Replace(url, "http://", "http://ann:USERcanary@", 1), "--prompt", prompt, "-n", "3",
			"--max-tokens", "20", "--record", rec, "--output-format", "none", "-v"}
		if text {
			args = append(args, "--save-text")
		}
		if _, diag, code := run(t, args...); code != 0 {
			t.Fatalf("exit %d: %s", code, diag)
		}
		r, f, err := record.Open(rec)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var all []byte
		words := 0
		for ev, err := r.Next(); err == nil; ev, err = r.Next() {
			all = event.Append(all, ev)
			if _, ok := ev.(*event.Text); ok {
				words++
			}
		}
		if i := bytes.Index(all, []byte("canary")); i >= 0 {
			t.Errorf("text %v: …%q…", text, all[max(i-60, 0):i+10])
		}
		if r.Text() != text || (words > 40) != text {
			t.Errorf("text %v: the recording says %v and holds %d texts", text, r.Text(), words)
		}
		s, err := snapshotOf(rec, strict())
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		for _, st := range s.Targets[0].Streams {
			for _, c := range st.Cells {
				shown += c.Text
			}
		}
		if (shown != "") != text {
			t.Errorf("text %v: a replay shows %q", text, shown)
		}
	}
}

// A replay on the screen is held, hurried, and taken back and forth.
func TestTheScreenOfAReplay(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "run.teapot")
	if _, diag, code := run(t, "report", "demo:smooth", "-c", "2", "-n", "4", "--max-tokens", "150", "--record", rec, "--output-format", "none"); code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	s := show(t, "replay", rec)
	s.await(t, "REPLAY", "teapot-smooth")
	s.keys(t, "p")
	s.await(t, "REPLAY HELD")
	s.keys(t, "}")
	s.await(t, "REPLAY ENDED")
	s.keys(t, "0")
	s.await(t, "REPLAY HELD", "0s of")
	s.keys(t, "..")
	s.await(t, "REPLAY HELD", "2s of")
	s.keys(t, "]]]p")
	s.await(t, "REPLAY ENDED", "8×")
	s.keys(t, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("teapot: %v", err)
	}
	s.await(t, "ttft", "gap", "e2e")
}

// Recordings of two boxes report as one.
func TestMergedReport(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.teapot"), filepath.Join(dir, "b.teapot")
	n := uint64(0)
	for _, rec := range []string{a, b} {
		if _, diag, code := run(t, "report", "demo:smooth", "-n", "4", "--max-tokens", "20", "--record", rec, "--output-format", "none"); code != 0 {
			t.Fatalf("exit %d: %s", code, diag)
		}
		s, err := snapshotOf(rec, stats.Config{MaxErrorRate: -1})
		if err != nil {
			t.Fatal(err)
		}
		n += s.Targets[0].Session.Gap.N
	}
	out, diag, code := run(t, "report", a, b, "--merge", "--output-format", "json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	if !strings.Contains(out, `"ok": 8,`) || !strings.Contains(out, fmt.Sprintf(`"n": %d,`, n)) || !strings.Contains(out, "were not made at the same time") {
		t.Errorf("%d gaps in\n%s", n, out)
	}
	if _, diag, code = run(t, "report", a, b); code != 2 || !strings.Contains(diag, "--merge") {
		t.Errorf("without --merge: exit %d, %q", code, diag)
	}
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
