package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"teapot/stats"
)

// ParseCondition reads one condition of --fail-if: METRIC.NUMBER, then > or <,
// then a limit. With a sign the limit is that of the change from A to B, in
// percent of A or as a length of time ("gap.p99>+10%", "ttft.p50<-5ms"); without
// one it is that of B alone ("gap.p99>50ms"). NUMBER is mean, max or a percentile
// that teapot keeps. err is the share of failed requests ("err>1%"; with a sign
// in points, "err>+1%"). Expr of the result is the normal form, which
// ParseCondition reads to the same result.
func ParseCondition(s string) (stats.Condition, error) {
	var c stats.Condition
	fail := func(why string, args ...any) (stats.Condition, error) {
		return c, fmt.Errorf("%s %s, e.g. 'gap.p99>+10%%'", quote(s), fmt.Sprintf(why, args...))
	}
	if len(s) > 100 {
		return fail("is too long for a condition")
	}
	text := strings.Join(strings.Fields(s), "")
	i := strings.IndexAny(text, "<>")
	if i < 0 {
		return fail("has no '>' or '<'")
	}
	c.Over = text[i] == '>'
	c.Metric, c.Of, _ = strings.Cut(strings.ToLower(text[:i]), ".")
	switch {
	case c.Metric == "err" && c.Of == "":
	case c.Metric == "err":
		return fail("asks for a number of the errors, which are one: write err")
	case !slices.Contains(stats.VersusMetrics[:], c.Metric):
		return fail("names no metric: there are %s, err", strings.Join(stats.VersusMetrics[:], " "))
	case !slices.Contains(stats.MoveNames[:], c.Of):
		return fail("names no number of %s: there are %s", c.Metric, strings.Join(stats.MoveNames[:], " "))
	}
	limit := strings.TrimPrefix(text[i+1:], "=")
	sign := 1.0
	if limit != "" && (limit[0] == '+' || limit[0] == '-') {
		c.Relative = true
		if limit[0] == '-' {
			sign = -1
		}
		limit = limit[1:]
	}
	shown, why := c.Expr, ""
	if shown, why = conditionLimit(&c, limit); why != "" {
		return fail("%s", why)
	}
	c.Limit *= sign
	c.Expr = c.Metric
	if c.Of != "" {
		c.Expr += "." + c.Of
	}
	c.Expr += map[bool]string{true: ">", false: "<"}[c.Over]
	if c.Relative {
		c.Expr += map[bool]string{true: "+", false: "-"}[sign > 0]
	}
	c.Expr += shown
	return c, nil
}

// conditionLimit reads the limit without its sign, and gives its normal form.
func conditionLimit(c *stats.Condition, s string) (shown, why string) {
	if number, ok := strings.CutSuffix(s, "%"); ok {
		v, err := decimal(number)
		switch {
		case err != nil:
			return "", "has a limit that is no percentage"
		case !c.Relative && c.Metric != "err":
			return "", "has a percentage without a sign: +10% is ten percent more than in A"
		case v > 1e6:
			return "", "has a limit above 1000000%"
		}
		c.Percent, c.Limit = true, v/100
		return strconv.FormatFloat(v, 'f', -1, 64) + "%", ""
	}
	if c.Metric == "err" {
		return "", "has a limit that is no percentage"
	}
	if v, err := decimal(strings.TrimRight(s, "usmµμ")); err == nil && v == 0 && c.Relative {
		return "0ms", "" // any change at all
	}
	ns, why := sloLimit(s)
	c.Limit = float64(ns)
	return limitString(ns), why
}

// Conditions are those of --fail-if.
func (o *Options) Conditions() []stats.Condition {
	var out []stats.Condition
	for _, raw := range o.FailIf {
		if c, err := ParseCondition(raw); err == nil { // checked when it was read
			out = append(out, c)
		}
	}
	return out
}

// compare takes the two runs of teapot compare.
func (o *Options) compare(args []string) error {
	if len(args) != 2 {
		return usagef("compare takes two runs, each a recording or a JSON report, e.g. teapot compare before.json after.json")
	}
	for i, path := range args {
		if path == "-" {
			return usagef("compare reads files, not standard input")
		}
		if err := readable(path); err != nil {
			return usagef("compare: %v", err)
		}
		o.Against[i] = path
	}
	return nil
}
