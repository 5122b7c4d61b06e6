package plain

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quantiles(marks string, ms ...float64) (q [len(stats.Quantiles)]stats.Quantile) {
	for i := range q {
		q[i] = stats.Quantile{Value: int64(ms[i] * 1e6), Mark: stats.MarkOK, Censored: marks[i] == '>'}
		switch marks[i] {
		case '-':
			q[i] = stats.Quantile{}
		case '~':
			q[i].Mark = stats.MarkApprox
		}
	}
	return q
}

func live() *stats.Snapshot {
	f := stats.Figures{
		TTFT:       stats.Figure{N: 83, Max: 488e6, Q: quantiles("  ~---", 171, 240, 300, 0, 0, 0)},
		Gap:        stats.Figure{N: 15800, Max: 812e6, Q: quantiles("    ~-", 13, 19, 22, 61, 410, 0)},
		OutputRate: 271.3, Stalls: stats.Stalls{Count: 3, Longest: 812e6}, Merged: 2,
		Requests: stats.Requests{Failed: 1},
		SLO: []stats.SLOResult{
			{Expr: "ttft<=500ms:99%", Attained: 1, N: 83, OK: true}, {Expr: "gap<=50ms:99%", Attained: 0.986, N: 15800}, {Expr: "itl<=50ms:99%", NoData: true},
		},
	}
	t := &stats.Target{
		Info:     event.Target{URL: "http://gpu07:8000", Model: "llama-3.3-70b", State: event.StateLive},
		InFlight: 4, Session: stats.Figures{Requests: stats.Requests{OK: 1051, Failed: 3}},
		LastError: `503 "overloaded"`, LastErrorAt: 749e9,
	}
	t.Windows[1] = f
	return &stats.Snapshot{
		Now: 761.4e9, Wall: time.Date(2026, 11, 30, 12, 4, 31, 0, time.UTC), Targets: []*stats.Target{t},
		Floor: stats.Floor{Source: "kernel", LateP99: 400e3, HostStalls: 1, DroppedEvents: 5, Word: "late"},
	}
}

func two() *stats.Snapshot {
	s := live()
	down := &stats.Target{
		Info: event.Target{URL: "https://ann:s3cr3t@gpu08/v1?k=s3cr3t", Model: "模型 \x1b[31mred", State: event.StateDown, Detail: "connection refused, next try in 4 s"},
	}
	down.Windows[1].TTFT = stats.Figure{N: 2, Max: 30e9, Censored: 2, Q: quantiles(">-----", 30000, 0, 0, 0, 0, 0)}
	s.Targets = append(s.Targets, down)
	return s
}

func TestLines(t *testing.T) {
	first := `t=761 time=12:17:12 target=http://gpu07:8000 model=llama-3.3-70b state=live fly=4 ok=1051 failed=3 window=60` +
		` ttft_p50=171 ttft_p99=- ttft_max=488 ttft_n=83 gap_p50=13.0 gap_p99=61.0 gap_max=812 gap_n=15800 tok/s=271 stalls=3 stall_max=812` +
		` errors=1 merged=2 stamp=kernel late_p99=0.400 host_stalls=1 dropped=5 floor=late` +
		` slo=ttft<=500ms:99%,100%,ok;gap<=50ms:99%,98.6%,missed;itl<=50ms:99%,-,nodata` +
		` last_error="503 \"overloaded\"" last_error_age=12s` + "\n"
	second := `t=761 time=12:17:12 target=https://gpu08/v1 model=模型_red state=down fly=0 ok=0 failed=0 window=60` +
		` ttft_p50=>30000 ttft_p99=- ttft_max=>30000 ttft_n=2 gap_p50=- gap_p99=- gap_max=- gap_n=0 tok/s=0 stalls=0 stall_max=-` +
		` errors=0 merged=0 stamp=kernel late_p99=0.400 host_stalls=1 dropped=5 floor=late` +
		` detail="connection refused, next try in 4 s"` + "\n"
	if diff := cmp.Diff(first+second, Lines(two(), Options{Window: 1})); diff != "" {
		t.Error(diff)
	}
	if got := Lines(&stats.Snapshot{}, Options{}); got != "t=0 time=- state=starting\n" {
		t.Errorf("%q", got)
	}
	if got := Lines(two(), Options{Window: 1, ASCII: true}); !strings.Contains(got, " model=????_red ") {
		t.Errorf("%q", got)
	}
	for _, w := range []int{-1, 0, 3, 99} {
		if got := Lines(live(), Options{Window: w}); !strings.Contains(got, " window=10 ") && !strings.Contains(got, " window=900 ") {
			t.Errorf("window %d: %q", w, got)
		}
	}
}

// The keys and their order are what scripts rely on.
func TestKeys(t *testing.T) {
	key := regexp.MustCompile(`(?:^| )([a-z0-9_/]+)=`)
	var got []string
	for _, m := range key.FindAllStringSubmatch(Line(live(), live().Targets[0], Options{}), -1) {
		got = append(got, m[1])
	}
	want := "t time target model state fly ok failed window ttft_p50 ttft_p99 ttft_max ttft_n gap_p50 gap_p99 gap_max gap_n " +
		"tok/s stalls stall_max errors merged stamp late_p99 host_stalls dropped floor last_error last_error_age"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
}

func TestAnyLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := live()
		x := s.Targets[0]
		x.Info.Model, x.Info.URL = rapid.String().Draw(t, "model"), "http://h/"+rapid.String().Draw(t, "path")
		x.Info.Detail, x.LastError = rapid.String().Draw(t, "detail"), rapid.String().Draw(t, "error")
		f := &x.Windows[0]
		f.OutputRate = rapid.SampledFrom([]float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300}).Draw(t, "rate")
		f.Gap.Q[0] = stats.Quantile{Value: rapid.Int64().Draw(t, "gap"), Mark: stats.MarkOK}
		f.Gap.N, f.Gap.Max = rapid.Uint64().Draw(t, "n"), rapid.Int64().Draw(t, "max")
		f.Stalls.Longest = rapid.Int64().Draw(t, "longest")
		s.Now = rapid.Int64().Draw(t, "now")
		out := Lines(s, Options{ASCII: rapid.Bool().Draw(t, "ascii")})
		if strings.Count(out, "\n") != 1 || !strings.HasSuffix(out, "\n") {
			t.Fatalf("not one line: %q", out)
		}
		for _, r := range strings.TrimSuffix(out, "\n") {
			if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%U in %q", r, out)
			}
		}
		figures, _, _ := strings.Cut(out[strings.Index(out, " fly="):], " slo=")
		if strings.Contains(figures, "NaN") || strings.Contains(figures, "Inf") || strings.Contains(figures, "=–") {
			t.Fatalf("%q", figures)
		}
	})
}

func TestRun(t *testing.T) {
	s := live()
	snapshot := func() *stats.Snapshot { return s }
	start := func(ctx context.Context, w io.Writer, tick chan time.Time, done chan struct{}) chan error {
		end := make(chan error, 1)
		go func() { end <- Run(ctx, w, snapshot, tick, done, Options{}) }()
		return end
	}

	var b bytes.Buffer
	tick, done := make(chan time.Time), make(chan struct{})
	end := start(context.Background(), &b, tick, done)
	tick <- time.Time{}
	tick <- time.Time{}
	close(done)
	if err := <-end; err != nil || b.String() != strings.Repeat(Lines(s, Options{}), 2) {
		t.Errorf("two ticks: %v, %q", err, b.String())
	}

	ctx, cancel := context.WithCancel(context.Background())
	end = start(ctx, io.Discard, tick, nil)
	cancel()
	if err := <-end; err != nil {
		t.Errorf("cancelled: %v", err)
	}

	close(tick)
	if err := <-start(context.Background(), io.Discard, tick, nil); err != nil {
		t.Errorf("ticker ended: %v", err)
	}
}

func TestRunWithoutReader(t *testing.T) {
	tick := make(chan time.Time, 1)
	tick <- time.Time{}
	s := live()
	snapshot := func() *stats.Snapshot { return s }
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pw.Close()
	pr.Close()
	err = Run(context.Background(), pw, snapshot, tick, nil, Options{})
	if !errors.Is(err, ErrClosed) || !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a closed pipe: %v", err)
	}

	tick <- time.Time{}
	full := errors.New("disk full")
	err = Run(context.Background(), broken{full}, snapshot, tick, nil, Options{})
	if errors.Is(err, ErrClosed) || !errors.Is(err, full) {
		t.Errorf("another fault: %v", err)
	}
}

type broken struct{ err error }

func (w broken) Write([]byte) (int, error) { return 0, w.err }
