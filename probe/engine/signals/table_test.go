package signals

import (
	"math"
	"sort"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDefaultTable(t *testing.T) {
	names := map[string]bool{}
	for _, r := range DefaultTable().rows {
		names[r.name] = true
	}
	for _, want := range []string{"running", "waiting", "kv_used", "preemptions", "prefill_tokens", "gen_tokens", "prefix_hits", "ttft", "itl", "queue", "gpu.util", "started"} {
		if !names[want] {
			t.Errorf("no %s", want)
		}
	}
}

// read evaluates a page of text with a table.
func read(table *Table, text string) map[string]float64 {
	out := map[string]float64{}
	for _, f := range table.figures(readPage([]byte(text), table.wanted)) {
		if f.buckets != nil {
			out[f.name+"_count"] = f.buckets.count
			continue
		}
		out[f.name+f.of] = f.value
	}
	return out
}

func TestExtend(t *testing.T) {
	mine, err := DefaultTable().Extend(strings.NewReader("\n# mine\nrunning  gauge  my:running * 2 | my_other\nnew.one  each(rank)  my_rank\nhalf share my_a{k=\"v\"} / my_b\nmine counter my:done\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, page, figure string
		want               float64 // NaN for none
	}{
		{"the user's comes first", "my:running 3\nvllm:num_requests_running 9\n", "running", 6},
		{"the second of the user's", "my_other 4\nvllm:num_requests_running 9\n", "running", 4},
		{"the old ones stay", "vllm:num_requests_running 9\n", "running", 9},
		{"each", "my_rank{rank=\"0\"} 1\nmy_rank{rank=\"1\"} 2\n", "new.one1", 2},
		{"a share of two", "my_a{k=\"v\"} 1\nmy_a{k=\"w\"} 1\nmy_b 4\n", "half", .25},
		{"a share of nothing", "my_a{k=\"v\"} 1\nmy_b 0\n", "half", math.NaN()},
		{"a counter with an ending", "my:done_total 5\n", "mine", 5},
		{"a counter without", "my_done 6\n", "mine", 6},
		{"not a number", "vllm:num_requests_running NaN\nsglang:num_running_reqs 2\n", "running", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, have := read(mine, c.page)[c.figure]
			if have == math.IsNaN(c.want) || have && got != c.want {
				t.Errorf("%v, %v", got, have)
			}
		})
	}
	if got := read(DefaultTable(), "my_other 4\n"); len(got) != 0 {
		t.Errorf("the default table was changed: %v", got)
	}
}

func TestTableErrors(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"running gauge", "line 2: \"running gauge\" has no name, kind and source"},
		{"Running gauge a", "is no name of a figure"},
		{"running speed a", "\"speed\" is no kind"},
		{"running each() a", "is no kind"},
		{"running gauge 1a", "\"1a\" is no name of a metric"},
		{"running gauge a |", "is no name of a metric"},
		{"running gauge a / b", "only a share is made of two metrics"},
		{"running share a / ", "is no name of a metric"},
		{"running gauge a * -1", "\"-1\" is no factor above 0"},
		{"running gauge a * NaN", "is no factor"},
		{"running gauge a{b=\"c\"", "the brace is not closed"},
		{"running gauge a{b}", "is not of the form label"},
		{strings.Repeat("x", 70<<10), "read the table of metrics"},
	} {
		_, err := DefaultTable().Extend(strings.NewReader("# first\n" + c.line + "\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.line, err, c.want)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add("running gauge a * 2 | b{c=\"d\"}\n")
	f.Add("x share a / b\ny each(z) c")
	f.Fuzz(func(t *testing.T, text string) {
		table, err := (&Table{}).Extend(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, r := range table.rows {
			if len(r.sources) == 0 {
				t.Fatalf("%q has no source", r.name)
			}
		}
	})
}

// count makes the histogram of some observations.
func count(upper []float64, obs []float64) *buckets {
	b := &buckets{upper: upper, below: make([]float64, len(upper)), count: float64(len(obs))}
	for _, v := range obs {
		b.sum += v
		for i, u := range upper {
			if v <= u {
				b.below[i]++
			}
		}
	}
	return b
}

// TestQuantileByDifference: what came between two looks is found again, and its
// quantile lies in the bucket of the true one.
func TestQuantileByDifference(t *testing.T) {
	upper := []float64{.01, .05, .1, .5, 1}
	values := rapid.SliceOfN(rapid.Float64Range(0, 2), 0, 40)
	rapid.Check(t, func(t *rapid.T) {
		before, between := values.Draw(t, "before"), values.Draw(t, "between")
		d, ok := count(upper, append(append([]float64(nil), before...), between...)).since(count(upper, before))
		if !ok || d.count != float64(len(between)) {
			t.Fatalf("%+v, %v", d, ok)
		}
		q := rapid.Float64Range(.01, .99).Draw(t, "q")
		got, ok := d.quantile(q)
		if ok != (len(between) > 0) {
			t.Fatalf("quantile of %d: %v", len(between), ok)
		}
		if !ok {
			return
		}
		sort.Float64s(between)
		truth := between[max(int(math.Ceil(q*float64(len(between))))-1, 0)]
		i := sort.SearchFloat64s(upper, truth)
		low, high := 0.0, upper[len(upper)-1]
		if i > 0 {
			low = upper[i-1]
		}
		if i < len(upper) {
			high = upper[i]
		}
		const dust = 1e-9 // of a rank that is whole but for rounding
		if got < low-dust || got > high+dust {
			t.Fatalf("q %v of %v is %v: %v is not in %v…%v", q, between, truth, got, low, high)
		}
	})
}

func TestSinceRefuses(t *testing.T) {
	old := count([]float64{1, 2}, []float64{.5, 1.5, 3})
	for name, b := range map[string]*buckets{
		"began anew": count([]float64{1, 2}, []float64{.5}), "other ends": count([]float64{1, 3}, []float64{.5, 1.5, 3}),
		"fewer buckets": count([]float64{1}, []float64{.5, 1.5, 3}), "a bucket fell": count([]float64{1, 2}, []float64{3, 3, 3}),
	} {
		if _, ok := b.since(old); ok {
			t.Errorf("%s: compared", name)
		}
	}
	if v, ok := count([]float64{1, 2}, []float64{5, 6}).quantile(.5); !ok || v != 2 {
		t.Errorf("above the last end: %v, %v", v, ok)
	}
	if _, ok := count(nil, []float64{5}).quantile(.5); ok {
		t.Error("a quantile without buckets")
	}
}
