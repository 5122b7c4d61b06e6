package ui

import (
	"strings"
	"testing"

	"teapot/stats"
	"teapot/ui/chart"
)

func TestColumnsGoInTheirOrder(t *testing.T) {
	heads := func(w int) string {
		var out []string
		for _, c := range columnsFor(w, 6, true) {
			out = append(out, c.head)
		}
		return strings.Join(out, " ")
	}
	for w, want := range map[int]string{
		61: "now p50 p90 p99 p99.9 p99.99 max n", 54: "now p50 p90 p99 p99.9 p99.99 max n",
		53: "p50 p90 p99 p99.9 p99.99 max n", 47: "p50 p99 p99.9 p99.99 max n",
		41: "p50 p99 p99.9 max n", 35: "p50 p99 max n", 30: "p50 p99 max n", 20: "p50 p99 max n",
	} {
		if got := heads(w); got != want {
			t.Errorf("%d columns: %s", w, got)
		}
	}
}

func TestQuantileCells(t *testing.T) {
	cases := []struct {
		name string
		q    stats.Quantile
		w    int
		want string
	}{
		{"no such percentile", stats.Quantile{Value: 5e6}, 6, "–"},
		{"few samples", stats.Quantile{Value: 790e6, Mark: stats.MarkApprox}, 6, "790~"},
		{"sound", stats.Quantile{Value: 14_800_000, Mark: stats.MarkOK}, 6, "14.8"},
		{"among the timeouts", stats.Quantile{Value: 30e9, Mark: stats.MarkOK, Censored: true}, 6, ">30000"},
		{"the same, narrow", stats.Quantile{Value: 30e9, Mark: stats.MarkApprox, Censored: true}, 5, ">30s~"},
		{"long", stats.Quantile{Value: 12_345e6, Mark: stats.MarkApprox}, 5, "12s~"},
	}
	for _, c := range cases {
		got, _ := quantile(&c.q, false, c.w)
		if got != c.want || chart.Width(got) > c.w {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestEmptyFiguresShowNoNumbers(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
		out := screenOf(still(empty(), Config{Theme: "mono"}), size[0], size[1], overview)
		for _, bad := range []string{"NaN", "Inf", "-1", "now 0"} {
			if strings.Contains(out, bad) {
				t.Errorf("%v: an empty screen shows %q", size, bad)
			}
		}
		if !strings.Contains(out, "–") || !strings.Contains(out, "CONNECTING") {
			t.Errorf("%v: an empty screen shows\n%s", size, out)
		}
	}
}

func TestSLOText(t *testing.T) {
	cases := []struct {
		name string
		r    stats.SLOResult
		want string
	}{
		{"all met", stats.SLOResult{Expr: "ttft<=500ms:95%", N: 83, Met: 83, Attained: 1, OK: true, Goal: .95}, "ttft≤500ms 83/83 ok"},
		{"met", stats.SLOResult{Expr: "gap<=50ms:99%", N: 1000, Met: 995, Attained: .995, OK: true, Goal: .99}, "gap≤50ms 99.5% ok"},
		{"missed", stats.SLOResult{Expr: "gap<=50ms:99%", N: 1000, Met: 986, Attained: .986, Goal: .99, For: 14e9}, "gap≤50ms 98.6% ✗ goal 99% for 14s"},
		{"no data", stats.SLOResult{Expr: "gap<=50ms:99%", NoData: true, Goal: .99}, "gap≤50ms –"},
	}
	for _, c := range cases {
		if got, _ := sloText(&c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
