package signals

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// all are the names on the pages of this file.
func all() map[string]bool {
	return map[string]bool{"a": true, "b": true, "ok": true, "a_bucket": true, "vllm_x": true}
}

func TestReadPage(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     map[string][]series
	}{
		{"plain", "a 1\n", map[string][]series{"a": {{"", 1}}}},
		{"a colon is an underscore", "vllm:x 1\nvllm_x 2", map[string][]series{"vllm_x": {{"", 1}, {"", 2}}}},
		{"timestamp, tab, CR", "a\t1 1767225600000\r\n", map[string][]series{"a": {{"", 1}}}},
		{"labels", `a{x="1",y="b}c\"d"} 2`, map[string][]series{"a": {{`x="1",y="b}c\"d"`, 2}}}},
		{"blank before the brace", `a {x="1"} 2`, map[string][]series{"a": {{`x="1"`, 2}}}},
		{"exemplar", `a_bucket{le="1"} 2 # {id="z"} 0.3`, map[string][]series{"a_bucket": {{`le="1"`, 2}}}},
		{"infinity", "a +Inf\nb -Inf", map[string][]series{"a": {{"", math.Inf(1)}}, "b": {{"", math.Inf(-1)}}}},
		{"comments and nothing", "# HELP a x\n# TYPE a counter\n\n  \n# EOF\n", map[string][]series{}},
		{"what cannot be read is passed over", "a\n{x=\"1\"} 2\na{x=\"1\" 2\na{x=\"1} 2\na b\n\"q\" 1\nok 3\n", map[string][]series{"ok": {{"", 3}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := readPage([]byte(c.in), all()); !reflect.DeepEqual(got.series, c.want) {
				t.Errorf("%v, want %v", got.series, c.want)
			}
		})
	}
	if p := readPage([]byte("a NaN\n"), all()); len(p.series["a"]) != 1 || finite(p.series["a"][0].value) {
		t.Errorf("NaN: %v", p.series)
	}
	if p := readPage([]byte("a 1\nb 2\n"), map[string]bool{"b": true}); len(p.series) != 1 || p.lines != 2 {
		t.Errorf("wanted: %+v", p)
	}
}

func TestLabel(t *testing.T) {
	const labels = `model_name="a\"b\\c\nd", engine="0",le="+Inf",`
	for key, want := range map[string]string{"model_name": "a\"b\\c\nd", "engine": "0", "le": "+Inf", "name": "", "": ""} {
		if got := label(labels, key); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
	for _, odd := range []string{"=", "a", `a=b`, `a="b`, `a="b\`, `a="b"c`, ","} {
		if got := label(odd, "z"); got != "" {
			t.Errorf("%q: %q", odd, got)
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, seed := range []string{"a 1\n", `a{x="1",y="b}c\"d"} 2`, "a{le=\"\xff\"} 1e400", "vllm:time_to_first_token_seconds_bucket{le=\"NaN\"} 3\nvllm:time_to_first_token_seconds_count 1", "a{=\"\"} 1", "a{x=\"\\"} {
		f.Add([]byte(seed))
	}
	table := DefaultTable()
	f.Fuzz(func(t *testing.T, body []byte) {
		p := readPage(body, table.wanted)
		p.keep("m")
		for _, fig := range table.figures(p) {
			if fig.buckets == nil && !finite(fig.value) && strings.Count(string(body), "\n") == 0 {
				t.Fatalf("%s is %v", fig.name, fig.value)
			}
			if fig.buckets != nil {
				_, _ = fig.buckets.quantile(.99)
				if d, ok := fig.buckets.since(fig.buckets); ok && d.count != 0 && finite(fig.buckets.count) {
					t.Fatalf("grew by %v over itself", d.count)
				}
			}
		}
	})
}
