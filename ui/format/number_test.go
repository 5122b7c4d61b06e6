package format

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"teapot/stats"
)

func TestNumbers(t *testing.T) {
	ms := func(f float64) int64 { return int64(math.Round(f * 1e6)) }
	cases := []struct{ name, got, want string }{
		{"nothing", MS(0), "0"},
		{"negative", MS(-1), None},
		{"a nanosecond", MS(1), "0.000"},
		{"42 µs", MS(ms(0.042)), "0.042"},
		{"rounds up to one", MS(ms(0.99951)), "1.00"},
		{"median of the article", MS(ms(1.60)), "1.60"},
		{"rounds up to ten", MS(ms(9.996)), "10.0"},
		{"two digits", MS(ms(15.1)), "15.1"},
		{"rounds up to a hundred", MS(ms(99.96)), "100"},
		{"a long one", MS(ms(4620)), "4620"},
		{"fine below one", MSFine(ms(0.9)), "0.900"},
		{"fine median", MSFine(ms(1.60)), "1.60"},
		{"fine p99", MSFine(ms(12.88)), "12.88"},
		{"fine p99.99", MSFine(ms(120.22)), "120.2"},
		{"fine seconds", MSFine(ms(4620.4)), "4620"},
		{"fine negative", MSFine(-5), None},
		{"dur none", Dur(0), "0s"},
		{"dur us", Dur(42_000), "42us"},
		{"dur just below a ms", Dur(999_600), "1ms"},
		{"dur ms", Dur(1_600_000), "1.6ms"},
		{"dur 812ms", Dur(812_000_000), "812ms"},
		{"dur s", Dur(4_200_000_000), "4.2s"},
		{"dur 30s", Dur(30_000_000_000), "30s"},
		{"dur min", Dur(200_000_000_000), "3m20s"},
		{"age 0", Age(-time.Second), "0s"},
		{"age s", Age(41 * time.Second), "41s"},
		{"age m", Age(12*time.Minute + 41*time.Second), "12m41s"},
		{"age h", Age(3*time.Hour + 5*time.Minute), "3h05m"},
		{"age d", Age(55 * time.Hour), "2d07h"},
		{"count", Count(83), "83"},
		{"count four digits", Count(1051), "1051"},
		{"count k", Count(15_800), "15.8k"},
		{"count round", Count(20_000), "20k"},
		{"count 198k", Count(198_400), "198k"},
		{"count M", Count(2_410_000), "2.41M"},
		{"count rolls over", Count(999_600), "1M"},
		{"count largest", Count(math.MaxUint64), "18.4E"},
		{"full", Full(1051), "1,051"},
		{"full short", Full(83), "83"},
		{"full long", Full(1234567), "1,234,567"},
		{"rate", Rate(67.61), "67.6"},
		{"rate 0", Rate(0), "0"},
		{"rate NaN", Rate(math.NaN()), None},
		{"rate Inf", Rate(math.Inf(1)), None},
		{"rate negative", Rate(-1), None},
		{"speed of the median", Speed(ms(1.6)), "625"},
		{"speed of nothing", Speed(0), None},
		{"percent", Percent(0.986), "98.6%"},
		{"percent whole", Percent(0.99), "99%"},
		{"percent all", Percent(1), "100%"},
		{"percent not quite all", Percent(0.9999999), "99.99%"},
		{"percent four nines", Percent(0.9995), "99.95%"},
		{"percent none", Percent(0), "0%"},
		{"percent hardly any", Percent(0.00001), "<0.1%"},
		{"percent NaN", Percent(math.NaN()), None},
		{"factor", Factor(2.1688), "2.2×"},
		{"factor large", Factor(75.1), "75×"},
		{"factor of nothing", Factor(math.Inf(1)), None},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestQuantile(t *testing.T) {
	const v = 30e9
	cases := []struct {
		name string
		q    stats.Quantile
		want string
	}{
		{"none", stats.Quantile{Value: v}, None},
		{"approximate", stats.Quantile{Value: v, Mark: stats.MarkApprox}, "30000~"},
		{"fine", stats.Quantile{Value: v, Mark: stats.MarkOK}, "30000"},
		{"censored", stats.Quantile{Value: v, Mark: stats.MarkOK, Censored: true}, ">30000"},
		{"censored and few", stats.Quantile{Value: v, Mark: stats.MarkApprox, Censored: true}, ">30000~"},
		{"impossible value", stats.Quantile{Value: -1, Mark: stats.MarkOK, Censored: true}, None},
	}
	for _, c := range cases {
		if got := Quantile(c.q, MS); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMeanAndMax(t *testing.T) {
	f := &stats.Figure{}
	if Mean(f, MS) != None || Max(f, MS) != None {
		t.Error("an empty figure has no mean and no max")
	}
	f = &stats.Figure{N: 3, Max: 2e6, Mean: 1.5e6}
	if got := Mean(f, MS) + " " + Max(f, MS); got != "1.50 2.00" {
		t.Error(got)
	}
	f.Censored = 1
	if got := Mean(f, MS) + " " + Max(f, MS); got != ">1.50 >2.00" {
		t.Error(got)
	}
	f.Mean = math.NaN()
	if Mean(f, MS) != None {
		t.Error("NaN came out")
	}
}

// Numbers keep their promised width and never read as anything but a number.
func TestNumbersProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, int64(2*time.Hour)).Draw(t, "ns")
		for _, s := range []string{MS(ns), MSFine(ns)} {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || len(s) > 7 {
				t.Fatalf("%d ns reads %q", ns, s)
			}
			if off := math.Abs(v*1e6 - float64(ns)); off > 0.005*float64(ns)+501 {
				t.Fatalf("%d ns reads %q, off by %g ns", ns, s, off)
			}
		}
		if s := Count(rapid.Uint64().Draw(t, "n")); len(s) > 5 {
			t.Fatalf("count %q is longer than five columns", s)
		}
		f := rapid.Float64().Draw(t, "f")
		for _, s := range []string{Rate(f), Percent(f), Factor(f)} {
			if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.HasPrefix(s, "-") {
				t.Fatalf("%g reads %q", f, s)
			}
		}
	})
}
