package ui

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

// filter tells which requests a list shows: those for which all of its terms
// hold. The empty one shows all.
type filter []func(*stats.Request) bool

func (f filter) shows(r *stats.Request) bool {
	for _, holds := range f {
		if !holds(r) {
			return false
		}
	}
	return true
}

// filterHelp names the words of the language.
const filterHelp = "gap ttft tpot e2e (ms) tok stalls stream id, status:ok/err/aborted/warmup/503, class:reset"

// parseFilter reads terms with blanks between them: "gap>200 status:err". A term
// is a name, one of > < >= <= = :, and a value. The error is one line.
func parseFilter(s string) (filter, error) {
	var out filter
	for _, term := range strings.Fields(s) {
		i := strings.IndexAny(term, "<>=:")
		if i <= 0 {
			return nil, fmt.Errorf("%q is no term such as gap>200: there are %s", term, filterHelp)
		}
		name, rest := strings.ToLower(term[:i]), term[i:]
		op := rest[:1]
		if len(rest) > 1 && rest[1] == '=' && (op == "<" || op == ">") {
			op = rest[:2]
		}
		f, err := parseTerm(name, op, rest[len(op):])
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func parseTerm(name, op, value string) (func(*stats.Request) bool, error) {
	if value == "" {
		return nil, fmt.Errorf("%s%s needs a value", name, op)
	}
	if name == "status" || name == "class" {
		if op != ":" && op != "=" {
			return nil, fmt.Errorf("%s has no order: %s:%s", name, name, value)
		}
		return byWord(name, strings.ToLower(value))
	}
	get, isTime := figureOf(name)
	if get == nil {
		return nil, fmt.Errorf("%q is not known: there are %s", name, filterHelp)
	}
	v, err := quantity(value, isTime)
	if err != nil {
		return nil, fmt.Errorf("%s%s%s: %w", name, op, value, err)
	}
	return func(r *stats.Request) bool {
		have, known := get(r)
		return known && compares(have, op, v)
	}, nil
}

func compares(have float64, op string, v float64) bool {
	switch op {
	case ">":
		return have > v
	case "<":
		return have < v
	case ">=":
		return have >= v
	case "<=":
		return have <= v
	}
	return have == v
}

// figureOf gives a request's figure of a name, times in ms, and whether it has
// it; nil for a name that is none.
func figureOf(name string) (get func(*stats.Request) (v float64, known bool), isTime bool) {
	span := func(of func(*stats.Request) int64) func(*stats.Request) (float64, bool) {
		return func(r *stats.Request) (float64, bool) { return float64(of(r)) / 1e6, of(r) > 0 }
	}
	count := func(of func(*stats.Request) uint64) func(*stats.Request) (float64, bool) {
		return func(r *stats.Request) (float64, bool) { return float64(of(r)), true }
	}
	switch name {
	case "gap":
		return span(func(r *stats.Request) int64 { return r.MaxGap }), true
	case "ttft":
		return span(func(r *stats.Request) int64 { return r.TTFT }), true
	case "tpot":
		return span(func(r *stats.Request) int64 { return r.TPOT }), true
	case "e2e":
		return span(func(r *stats.Request) int64 { return r.E2E }), true
	case "tok":
		return count(func(r *stats.Request) uint64 { return uint64(max(r.N, 0)) }), false
	case "stalls":
		return count(func(r *stats.Request) uint64 { return uint64(max(r.Stalls, 0)) }), false
	case "stream":
		return count(func(r *stats.Request) uint64 { return uint64(r.Slot) }), false
	case "id":
		return count(func(r *stats.Request) uint64 { return r.ID }), false
	}
	return nil, false
}

// quantity reads a number, of a time in ms or with a unit: "200", "1.5s".
func quantity(s string, isTime bool) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v, nil
	}
	if !isTime {
		return 0, errors.New("that is no number")
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New("a time is a number of ms, or has a unit such as 1.5s")
	}
	return float64(d) / 1e6, nil
}

// byWord compares with a word.
func byWord(name, value string) (func(*stats.Request) bool, error) {
	if name == "class" {
		return func(r *stats.Request) bool { return strings.Contains(strings.ToLower(string(r.Class)), value) }, nil
	}
	if code, err := strconv.Atoi(value); err == nil {
		return func(r *stats.Request) bool { return r.Status == code }, nil
	}
	switch value {
	case "ok":
		return func(r *stats.Request) bool { return r.Class.OK() && !r.Warmup }, nil
	case "err", "error", "failed":
		return func(r *stats.Request) bool { return r.Class.Failed() }, nil
	case "aborted":
		return func(r *stats.Request) bool { return r.Class == event.Aborted }, nil
	case "warmup", "warm-up":
		return func(r *stats.Request) bool { return r.Warmup }, nil
	}
	return nil, fmt.Errorf("status:%s is none of ok, err, aborted, warmup, or a number such as 503", value)
}
