package options

import (
	"strings"
	"testing"

	"teapot/stats"
)

func TestParseCondition(t *testing.T) {
	cases := []struct {
		in   string
		want stats.Condition
		fail string
	}{
		{in: "gap.p99>+10%", want: stats.Condition{Expr: "gap.p99>+10%", Metric: "gap", Of: "p99", Over: true, Relative: true, Percent: true, Limit: 0.1}},
		{in: " TTFT.p50 > + 20 ms ", want: stats.Condition{Expr: "ttft.p50>+20ms", Metric: "ttft", Of: "p50", Over: true, Relative: true, Limit: 20e6}},
		{in: "tpot.mean<-5%", want: stats.Condition{Expr: "tpot.mean<-5%", Metric: "tpot", Of: "mean", Relative: true, Percent: true, Limit: -0.05}},
		{in: "gap.p99.9>=50ms", want: stats.Condition{Expr: "gap.p99.9>50ms", Metric: "gap", Of: "p99.9", Over: true, Limit: 50e6}},
		{in: "e2e.max>2s", want: stats.Condition{Expr: "e2e.max>2s", Metric: "e2e", Of: "max", Over: true, Limit: 2e9}},
		{in: "gap.p50>+0%", want: stats.Condition{Expr: "gap.p50>+0%", Metric: "gap", Of: "p50", Over: true, Relative: true, Percent: true}},
		{in: "gap.p50>+0ms", want: stats.Condition{Expr: "gap.p50>+0ms", Metric: "gap", Of: "p50", Over: true, Relative: true}},
		{in: "err>1%", want: stats.Condition{Expr: "err>1%", Metric: "err", Over: true, Percent: true, Limit: 0.01}},
		{in: "err>+0.5%", want: stats.Condition{Expr: "err>+0.5%", Metric: "err", Over: true, Relative: true, Percent: true, Limit: 0.005}},
		{in: "", fail: "has no '>'"},
		{in: "gap.p99", fail: "has no '>'"},
		{in: "gap>+10%", fail: "names no number of gap"},
		{in: "lag.p99>+10%", fail: "names no metric"},
		{in: "gap.p98>+10%", fail: "names no number of gap"},
		{in: "gap.p99>10%", fail: "without a sign"},
		{in: "gap.p99>+10", fail: "without a unit"},
		{in: "gap.p99>+", fail: "has no limit"},
		{in: "gap.p99>", fail: "has no limit"},
		{in: "gap.p99>+x%", fail: "no percentage"},
		{in: "gap.p99>+9999999%", fail: "above"},
		{in: "gap.p99>++1%", fail: "no percentage"},
		{in: "err.p99>1%", fail: "which are one"},
		{in: "err>5ms", fail: "no percentage"},
		{in: strings.Repeat("x", 101), fail: "too long"},
	}
	for _, c := range cases {
		got, err := ParseCondition(c.in)
		switch {
		case c.fail == "" && err != nil:
			t.Errorf("%q: %v", c.in, err)
		case c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail)):
			t.Errorf("%q: %v, want %q", c.in, err, c.fail)
		case c.fail == "" && got != c.want:
			t.Errorf("%q: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func FuzzParseCondition(f *testing.F) {
	for _, s := range []string{"gap.p99>+10%", "err>1%", "ttft.p50<-5ms", "gap.p99.99>1us", "gap.max>+1.5%", ">", "é.µ>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseCondition(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("%q: the error is not one clean line: %q", s, err)
			}
			return
		}
		if again, err := ParseCondition(c.Expr); err != nil || again != c {
			t.Errorf("%q reads as %+v, which reads as %+v, %v", s, c, again, err)
		}
	})
}
