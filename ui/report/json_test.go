package report

import (
	"encoding/json"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"teapot/stats"
)

// keys lists the keys of a JSON value as paths; elements of lists count as one.
func keys(v any, path string, to map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if path == "/targets/requests/by_class" {
				k = "CLASS"
			}
			to[path+"/"+k] = true
			keys(e, path+"/"+k, to)
		}
	case []any:
		for _, e := range v {
			keys(e, path, to)
		}
	}
}

// The keys are a promise: one that is gone or renamed breaks somebody's script.
func TestSchema(t *testing.T) {
	found := map[string]bool{}
	for _, c := range flavours() {
		b, err := marshal(c.s, Options{Limits: limitsOfRun()}, fixedReading)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if v["version"] != 1.0 {
			t.Errorf("%s: version %v", c.name, v["version"])
		}
		keys(v, "", found)
	}
	var list []string
	for k := range found {
		list = append(list, k)
	}
	sort.Strings(list)
	golden(t, "schema.txt", strings.Join(list, "\n")+"\n")
	for _, must := range []string{"/complete", "/settings/seed", "/targets/url", "/targets/engine", "/targets/model", "/targets/requests/ok",
		"/targets/requests/failed", "/targets/requests/by_class", "/targets/figures/gap/p99.99", "/targets/figures/ttfo/ci/p50", "/targets/figures/e2e/approx",
		"/targets/figures/itl/censored", "/targets/figures/tpot/clipped", "/targets/from_schedule/ttft/n", "/targets/slo/attained",
		"/targets/throughput/output_tok_s", "/targets/stalls/count", "/targets/floor/source", "/targets/reading/text"} {
		if !found[must] {
			t.Errorf("%s is missing", must)
		}
	}
}

func TestJSONValues(t *testing.T) {
	parse := func(s *stats.Snapshot) map[string]any {
		b, err := marshal(s, Options{}, fixedReading)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	at := func(v map[string]any, path ...any) any {
		var cur any = v
		for _, p := range path {
			switch p := p.(type) {
			case string:
				cur = cur.(map[string]any)[p]
			case int:
				cur = cur.([]any)[p]
			}
		}
		return cur
	}
	a, f, x := parse(article()), parse(few()), parse(timeouts())
	cases := []struct {
		name      string
		got, want any
	}{
		{"complete", at(a, "complete"), true},
		{"p99.99 in ms", at(a, "targets", 0, "figures", "gap", "p99.99"), 120.22},
		{"trusted", len(at(a, "targets", 0, "figures", "gap", "approx").([]any)), 1},
		{"not trusted", at(a, "targets", 0, "figures", "gap", "approx", 0), "p99.99"},
		{"open interval", at(a, "targets", 0, "figures", "gap", "ci", "p99.99", 1), nil},
		{"closed loop", at(a, "targets", 0, "from_schedule"), nil},
		{"met", at(a, "targets", 0, "slo", 0, "ok"), true},
		{"no such percentile", at(f, "targets", 0, "figures", "ttft", "p90"), nil},
		{"no interval", at(f, "targets", 0, "figures", "ttft", "ci", "p90"), nil},
		{"itl unknown", at(f, "targets", 0, "figures", "itl", "mean"), nil},
		{"lateness", at(f, "targets", 0, "from_schedule", "late", "max"), 72.0},
		{"own prompts", at(f, "settings", "prompt_tokens"), nil},
		{"limits unknown", at(f, "settings", "limits_ms"), nil},
		{"no kernel stamps", at(f, "targets", 0, "floor", "late_p99"), nil},
		{"lower bound", at(x, "targets", 0, "figures", "ttft", "at_least", 0), "p99"},
		{"missed", at(x, "targets", 0, "slo", 0, "ok"), false},
		{"error share", at(x, "targets", 0, "slo", 1, "limit_share"), 0.01},
		{"not judged", at(parse(incomplete()), "targets", 0, "slo", 0, "ok"), nil},
		{"by class", at(x, "targets", 0, "requests", "by_class", "timeout_first"), 12.0},
		{"started", at(a, "started"), "2026-11-30T12:04:31Z"},
		{"no samples", at(parse(failed()), "targets", 0, "figures", "gap", "max"), nil},
	}
	for _, c := range cases {
		if !cmp.Equal(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
