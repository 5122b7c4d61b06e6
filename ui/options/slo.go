package options

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"teapot/stats"
)

// The metrics a service level can be given for.
const sloMetrics = "ttft ttfo gap itl tpot e2e"

const (
	defaultGoal = 0.99
	minSLO      = int64(time.Microsecond)
	maxSLO      = int64(time.Hour)
)

// ParseSLO reads one service level: METRIC<=LIMIT[:GOAL], such as
// "gap<=50ms:99%" or "ttft<500ms". The limit has the unit us, ms or s and lies
// between 1 µs and 1 h, the range of the histograms; "<" means the same as
// "<=", since no two instants are equal; the goal is a percentage, 99 % when
// left out. Expr of the result is the normal form, which ParseSLO reads to the
// same result.
func ParseSLO(s string) (stats.SLO, error) {
	fail := func(why string, args ...any) (stats.SLO, error) {
		return stats.SLO{}, fmt.Errorf("%s %s, e.g. 'gap<=50ms:99%%'", quote(s), fmt.Sprintf(why, args...))
	}
	if len(s) > 100 {
		return fail("is too long for a service level")
	}
	text := strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "≤", "<=")
	i := strings.IndexByte(text, '<')
	if i < 0 {
		return fail("has no '<=' between the metric and its limit")
	}
	metric := strings.ToLower(text[:i])
	if metric == "" || strings.Contains(metric, " ") || !strings.Contains(" "+sloMetrics+" ", " "+metric+" ") {
		return fail("names no metric: there are %s", sloMetrics)
	}
	limitText, goalText, hasGoal := strings.Cut(strings.TrimPrefix(text[i+1:], "="), ":")
	limit, why := sloLimit(limitText)
	if why != "" {
		return fail("%s", why)
	}
	goal := defaultGoal
	if hasGoal {
		if goal, why = sloGoal(goalText); why != "" {
			return fail("%s", why)
		}
	}
	return newSLO(metric, limit, goal), nil
}

func newSLO(metric string, limit int64, goal float64) stats.SLO {
	return stats.SLO{
		Expr:   metric + "<=" + limitString(limit) + ":" + goalString(goal) + "%",
		Metric: metric, Limit: limit, Goal: goal,
	}
}

// sloLimit reads a length of time in ns; why says what is wrong with it.
func sloLimit(s string) (ns int64, why string) {
	unit := 0.0
	for _, u := range []struct {
		suffix string
		ns     float64
	}{{"us", 1e3}, {"µs", 1e3}, {"μs", 1e3}, {"ms", 1e6}, {"s", 1e9}} {
		if number, ok := strings.CutSuffix(s, u.suffix); ok {
			s, unit = number, u.ns
			break
		}
	}
	v, err := decimal(s)
	switch {
	case s == "":
		return 0, "has no limit"
	case err != nil:
		return 0, "has a limit that is no number with a unit (us, ms, s)"
	case unit == 0:
		return 0, "has a limit without a unit (us, ms, s)"
	}
	ns = int64(math.Round(math.Min(v*unit, 1e18)))
	if ns < minSLO || ns > maxSLO {
		return 0, "has a limit outside 1us to 3600s"
	}
	return ns, ""
}

// sloGoal reads a percentage above 0, at most 100, as a share.
func sloGoal(s string) (share float64, why string) {
	number, ok := strings.CutSuffix(s, "%")
	v, err := decimal(number)
	switch {
	case err != nil:
		return 0, "has a goal that is no percentage"
	case !ok:
		return 0, "has a goal without '%'"
	case v <= 0 || v > 100:
		return 0, "has a goal outside 0% to 100%"
	}
	// Six decimals of a percentage are more than any number of requests tells.
	if v = math.Round(v * 1e6); v == 0 {
		return 0, "has a goal outside 0% to 100%"
	}
	return v / 1e8, ""
}

// decimal reads digits with at most one point: no sign, no exponent, no NaN.
func decimal(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

func limitString(ns int64) string {
	switch {
	case ns%1e9 == 0:
		return strconv.FormatInt(ns/1e9, 10) + "s"
	case ns < 1e6:
		return strconv.FormatFloat(float64(ns)/1e3, 'f', -1, 64) + "us"
	}
	return strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64) + "ms"
}

func goalString(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e8)/1e6, 'f', -1, 64)
}

// mlperf holds the limits of the inference benchmarks that operators compare
// themselves with: P99 of TTFT and of TPOT in ms, server and interactive
// (MLPerf Inference, July 2026).
func mlperf() map[string][4]int64 {
	return map[string][4]int64{
		"8b":           {2000, 100, 500, 30},
		"70b":          {2000, 200, 450, 40},
		"405b":         {6000, 175, 4500, 80},
		"deepseek-r1":  {2000, 80, 1500, 15},
		"gpt-oss-120b": {3000, 80, 2000, 20},
	}
}

// perception holds limits that stand for what a person notices: a reader of
// 238 words a minute (about 5.3 tokens a second), a frame of film and of a
// screen, and what is felt as instant. ns.
func perception() map[string]stats.SLO {
	return map[string]stats.SLO{
		"reader":  newSLO("tpot", 189e6, defaultGoal),
		"24fps":   newSLO("gap", 41_700_000, defaultGoal),
		"60fps":   newSLO("gap", 16_700_000, defaultGoal),
		"instant": newSLO("gap", 100e6, defaultGoal),
	}
}

// ParseSLOs reads one value of --slo: a service level as of ParseSLO, or the
// name of a known one, which may stand for several.
func ParseSLOs(s string) ([]stats.SLO, error) {
	name := strings.ToLower(strings.TrimSpace(s))
	if one, ok := perception()[name]; ok {
		return []stats.SLO{one}, nil
	}
	if which, ok := strings.CutPrefix(name, "mlperf:"); ok {
		return mlperfSLOs(which)
	}
	one, err := ParseSLO(s)
	if err != nil {
		return nil, err
	}
	return []stats.SLO{one}, nil
}

func mlperfSLOs(which string) ([]stats.SLO, error) {
	table := mlperf()
	for suffix, at := range map[string]int{"-server": 0, "-interactive": 2} {
		if model, ok := strings.CutSuffix(which, suffix); ok {
			if v, ok := table[model]; ok {
				return []stats.SLO{
					newSLO("ttft", v[at]*1e6, defaultGoal),
					newSLO("tpot", v[at+1]*1e6, defaultGoal),
				}, nil
			}
		}
	}
	names := make([]string, 0, len(table))
	for model := range table {
		names = append(names, model)
	}
	sort.Strings(names)
	return nil, fmt.Errorf("'mlperf:%s' is unknown: mlperf: takes one of %s with -server or -interactive, e.g. mlperf:70b-interactive",
		strings.Trim(quote(which), "'"), strings.Join(names, ", "))
}
