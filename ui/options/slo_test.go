package options

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"teapot/stats"
)

func TestParseSLO(t *testing.T) {
	good := []struct {
		in, expr string
		metric   string
		limit    int64
		goal     float64
	}{
		{"gap<=50ms:99%", "gap<=50ms:99%", "gap", 50e6, 0.99},
		{"ttft<500ms", "ttft<=500ms:99%", "ttft", 500e6, 0.99},
		{" TPOT <= 0.5 ms : 99.9 % ", "tpot<=500us:99.9%", "tpot", 500e3, 0.999},
		{"itl≤1500ms", "itl<=1500ms:99%", "itl", 1500e6, 0.99},
		{"e2e<=2000ms:100%", "e2e<=2s:100%", "e2e", 2e9, 1},
		{"ttfo<=41.7ms:95%", "ttfo<=41.7ms:95%", "ttfo", 41_700_000, 0.95},
		{"gap<=1µs:50%", "gap<=1us:50%", "gap", 1e3, 0.5},
		{"e2e<=3600s", "e2e<=3600s:99%", "e2e", 3600e9, 0.99},
		{"gap<=1ms:99.999999%", "gap<=1ms:99.999999%", "gap", 1e6, 0.99999999},
	}
	for _, c := range good {
		got, err := ParseSLO(c.in)
		want := stats.SLO{Expr: c.expr, Metric: c.metric, Limit: c.limit, Goal: c.goal}
		if err != nil {
			t.Errorf("%q: %v", c.in, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", c.in, diff)
		}
	}
	bad := []struct{ in, want string }{
		{"", "has no '<=' between the metric and its limit"},
		{"gap", "has no '<=' between the metric and its limit"},
		{"gap>=50ms", "has no '<=' between the metric and its limit"},
		{"<=50ms", "names no metric: there are ttft ttfo gap itl tpot e2e"},
		{"gapp<=50ms", "names no metric: there are ttft ttfo gap itl tpot e2e"},
		{"ttft ttfo<=50ms", "names no metric: there are ttft ttfo gap itl tpot e2e"},
		{"gap<=", "has no limit"},
		{"gap<=ms", "has no limit"},
		{"gap<=50", "has a limit without a unit (us, ms, s)"},
		{"gap<=50m", "has a limit that is no number with a unit (us, ms, s)"},
		{"gap<=NaNms", "has a limit that is no number with a unit (us, ms, s)"},
		{"gap<=Infs", "has a limit that is no number with a unit (us, ms, s)"},
		{"gap<=-50ms", "has a limit that is no number with a unit (us, ms, s)"},
		{"gap<=1e3ms", "has a limit that is no number with a unit (us, ms, s)"},
		{"gap<=1.2.3ms", "has a limit that is no number with a unit (us, ms, s)"},
		{"gap<=0ms", "has a limit outside 1us to 3600s"},
		{"gap<=3601s", "has a limit outside 1us to 3600s"},
		{"gap<=" + strings.Repeat("9", 60) + "s", "has a limit outside 1us to 3600s"},
		{"gap<=50ms:", "has a goal that is no percentage"},
		{"gap<=50ms:p99", "has a goal that is no percentage"},
		{"gap<=50ms:0.99", "has a goal without '%'"},
		{"gap<=50ms:0%", "has a goal outside 0% to 100%"},
		{"gap<=50ms:0.0000001%", "has a goal outside 0% to 100%"},
		{"gap<=50ms:101%", "has a goal outside 0% to 100%"},
		{"gap<=50ms:99%:98%", "has a goal that is no percentage"},
	}
	for _, c := range bad {
		_, err := ParseSLO(c.in)
		if want := "'" + c.in + "' " + c.want + ", e.g. 'gap<=50ms:99%'"; err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", c.in, err, want)
		}
	}
}

func TestNamedSLOs(t *testing.T) {
	cases := []struct{ in, want string }{
		{"mlperf:8b-server", "ttft<=2s:99% tpot<=100ms:99%"},
		{"mlperf:8b-interactive", "ttft<=500ms:99% tpot<=30ms:99%"},
		{"mlperf:70b-server", "ttft<=2s:99% tpot<=200ms:99%"},
		{"MLPerf:70B-Interactive", "ttft<=450ms:99% tpot<=40ms:99%"},
		{"mlperf:405b-server", "ttft<=6s:99% tpot<=175ms:99%"},
		{"mlperf:405b-interactive", "ttft<=4500ms:99% tpot<=80ms:99%"},
		{"mlperf:deepseek-r1-server", "ttft<=2s:99% tpot<=80ms:99%"},
		{"mlperf:deepseek-r1-interactive", "ttft<=1500ms:99% tpot<=15ms:99%"},
		{"mlperf:gpt-oss-120b-server", "ttft<=3s:99% tpot<=80ms:99%"},
		{"mlperf:gpt-oss-120b-interactive", "ttft<=2s:99% tpot<=20ms:99%"},
		{"reader", "tpot<=189ms:99%"},
		{"24fps", "gap<=41.7ms:99%"},
		{"60fps", "gap<=16.7ms:99%"},
		{"instant", "gap<=100ms:99%"},
		{"gap<1s", "gap<=1s:99%"},
	}
	for _, c := range cases {
		slos, err := ParseSLOs(c.in)
		var got []string
		for _, s := range slos {
			got = append(got, s.Expr)
			if again, err := ParseSLO(s.Expr); err != nil || again != s {
				t.Errorf("%s: %+v reads as %+v, %v", c.in, s, again, err)
			}
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v; want %q", c.in, got, err, c.want)
		}
	}
}

func TestSLOProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		metric := rapid.SampledFrom(strings.Fields(sloMetrics)).Draw(t, "metric")
		us := rapid.Int64Range(1, 3_600_000_000).Draw(t, "limit")
		goal := rapid.Int64Range(1, 100_000_000).Draw(t, "goal")
		s, err := ParseSLO(fmt.Sprintf("%s<=%dus:%d.%06d%%", metric, us, goal/1e6, goal%1e6))
		if err != nil {
			t.Fatal(err)
		}
		if s.Limit != us*1000 || s.Metric != metric {
			t.Fatalf("%d us reads as %+v", us, s)
		}
		if again, err := ParseSLO(s.Expr); err != nil || again != s {
			t.Fatalf("%+v reads as %+v, %v", s, again, err)
		}
	})
}

func FuzzParseSLO(f *testing.F) {
	for _, s := range []string{"gap<=50ms:99%", "ttft<500ms", "ttft ≤ 1s", "e2e<=0.001us", "gap<=ms:%", "<", "mlperf:70b-server", "gap<=1.s:.5%", "gap<=.s", "µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		slos, err := ParseSLOs(in)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q: message %q", in, err)
			}
			return
		}
		for _, s := range slos {
			if s.Limit < minSLO || s.Limit > maxSLO || !(s.Goal > 0 && s.Goal <= 1) {
				t.Fatalf("%q: %+v", in, s)
			}
			if again, err := ParseSLO(s.Expr); err != nil || again != s {
				t.Fatalf("%q: %+v reads as %+v, %v", in, s, again, err)
			}
		}
	})
}
