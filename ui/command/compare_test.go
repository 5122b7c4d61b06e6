package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/stats"
	"teapot/ui/options"
	"teapot/ui/report"
)

// paced is a recording of one stream whose steps take a while, with a wobble.
func paced(t *testing.T, step int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := record.NewWriter(&b, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(ev event.Event) {
		if err := w.Add(ev); err != nil {
			t.Fatal(err)
		}
	}
	put(&event.Session{Wall: 1.7e18, Source: event.SourceKernel, Load: event.Load{Concurrency: 1, MaxTokens: 100, Cold: true}})
	put(&event.Target{ID: 1, URL: "http://x", State: event.StateLive, Model: "m"})
	at := int64(1e6)
	for req := range uint64(20) {
		put(&event.Start{At: at, Target: 1, Request: req + 1, Asked: 100, Reused: true})
		for k := range int64(100) {
			at += step + step*(at/1e3%7+k%5)/100
			put(&event.Token{At: at, Target: 1, Request: req + 1, K: 1})
		}
		put(&event.End{At: at, Target: 1, Request: req + 1, Class: event.OKFull, N: 100, Count: event.CountUsage, Status: 200})
		at += 1e6
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	put(&event.Finished{At: at, Complete: true, Reason: "requests"})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Recordings and reports compare alike; a bad file is one line and a failure.
func TestCompareFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	quick, slow := paced(t, 10e6), paced(t, 11e6)
	a, b := write("a.teapot", quick), write("b.teapot", slow)
	snap, err := loadRun(b)
	if err != nil {
		t.Fatal(err)
	}
	asJSON, err := report.JSON(snap, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bj := write("b.json", asJSON)
	out := filepath.Join(dir, "out.json")
	ask := func(args ...string) (int, string) {
		t.Helper()
		o, code := options.Parse(append([]string{"compare", "-o", out}, args...), func(string) string { return "" }, os.Stdout, os.Stderr)
		if code != options.GoOn {
			t.Fatalf("%v: %d", args, code)
		}
		code, err := compareRuns(o)
		if err != nil {
			return code, err.Error()
		}
		return code, ""
	}
	read := func() string {
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(strings.ReplaceAll(string(text), "b.teapot", "B"), "b.json", "B")
	}
	if code, why := ask(a, b); code != 0 || why != "" {
		t.Fatalf("%d %s", code, why)
	}
	of := read()
	if !strings.Contains(of, "B is slower: gap p50 +10.0%, gap p99 +10.0%") {
		t.Errorf("a tenth more is not found: %s", of)
	}
	ask(a, bj)
	if diff := cmp.Diff(of, read()); diff != "" {
		t.Errorf("a recording and its report compare differently:\n%s", diff)
	}
	for _, c := range []struct {
		args []string
		code int
		why  string
	}{
		{[]string{a, b, "--fail-if", "gap.p50>+5%"}, 3, "gap.p50>+5%: holds"},
		{[]string{b, a, "--fail-if", "gap.p50>+5%"}, 0, ""},
		{[]string{a, a, "--fail-if", "gap.p99>+0%", "--fail-if", "err>0.5%"}, 0, ""},
		{[]string{a, b, "--fail-if", "gap.p99.99>1us"}, 1, "no such number"},
		{[]string{a, write("text", []byte("hello"))}, 1, "neither a recording nor a JSON report"},
		{[]string{a, write("empty", nil)}, 1, "neither a recording nor a JSON report"},
		{[]string{a, write("other.json", []byte(`{"x":1}`))}, 1, "neither a recording nor a JSON report"},
		{[]string{a, write("newer.json", []byte(`{"version":9,"targets":[]}`))}, 1, "newer teapot"},
		{[]string{a, write("cut.json", asJSON[:len(asJSON)/2])}, 1, "neither a recording nor a JSON report"},
		{[]string{a, write("nothing.teapot", quick[:40])}, 1, "no endpoint in it"},
		{[]string{a, write("cut.teapot", slow[:len(slow)-3])}, 0, ""},
	} {
		code, why := ask(c.args...)
		if code != c.code || !strings.Contains(why, c.why) || strings.Contains(why, "\n") || c.why == "" && why != "" {
			t.Errorf("%v: %d %q, want %d %q", c.args[1:], code, why, c.code, c.why)
		}
	}
	if s, err := loadRun(filepath.Join(dir, "cut.teapot")); err != nil || s.Damaged == "" || stats.Hold(snap.Targets[0], s.Targets[0]).Figures == nil {
		t.Errorf("%v", err)
	}
}
