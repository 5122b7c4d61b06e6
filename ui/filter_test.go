package ui

import (
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

func TestFilter(t *testing.T) {
	rs := []stats.Request{
		{ID: 1, Class: event.OKFull, Status: 200, TTFT: 300e6, TPOT: 14e6, E2E: 3e9, MaxGap: 250e6, N: 200, Stalls: 1, Slot: 3},
		{ID: 2, Class: event.OKShort, Status: 200, TTFT: 600e6, TPOT: 13e6, E2E: 1e9, MaxGap: 40e6, N: 5, Slot: 1},
		{ID: 3, Class: event.ErrOverload, Status: 503, Slot: 3},
		{ID: 4, Class: event.ErrReset, Slot: 0},
		{ID: 5, Class: event.OKFull, Status: 200, TTFT: 200e6, N: 200, Warmup: true},
		{ID: 6, Class: event.Aborted, TTFT: 100e6, N: 9},
	}
	for text, want := range map[string]string{
		"":                     "123456",
		"gap>200":              "1",
		"gap>0.04s gap<=250ms": "1",
		"gap>=40":              "12",
		"gap<200":              "2", // what has no gap is not short of one
		"ttft>500":             "2",
		"TTFT>.25s":            "12",
		"tok<10":               "2346",
		"tok=200":              "15",
		"tok:200 gap>1":        "1",
		"status:err":           "34",
		"status:error":         "34",
		"status=ok":            "12",
		"status:503":           "3",
		"status:warmup":        "5",
		"status:aborted":       "6",
		"class:reset":          "4",
		"class:OVER":           "3",
		"stream:3":             "13",
		"stream:3 status:err":  "3",
		"stalls>0":             "1",
		"id>=5":                "56",
		"tpot<13.5":            "2",
		"e2e>2s":               "1",
	} {
		f, err := parseFilter(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := ""
		for i := range rs {
			if f.shows(&rs[i]) {
				got += string(rune('0' + rs[i].ID))
			}
		}
		if got != want {
			t.Errorf("%q lets %s through, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"gap":            `"gap" is no term such as gap>200`,
		">200":           `">200" is no term`,
		"gaps>200":       `"gaps" is not known: there are gap`,
		"gap>":           "gap> needs a value",
		"gap>fast":       "gap>fast: a time is a number of ms",
		"tok<1s":         "tok<1s: that is no number",
		"tok<NaN":        "no number",
		"gap>Inf":        "a time is",
		"status>err":     "status has no order: status:err",
		"status:bad":     "status:bad is none of ok, err",
		"gap>200 whole ": `"whole" is no term`,
	} {
		_, err := parseFilter(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"", "gap>200 status:err", "ttft>=1.5s", "class:\x1b[31m", "=:<>", "tok<1e309", "status:-1", "id>18446744073709551615"} {
		f.Add(s)
	}
	r := stats.Request{ID: 1 << 63, Class: event.OKFull, Status: 200, TTFT: 1, TPOT: 1, E2E: 1, MaxGap: 1, N: 1}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseFilter(s)
		if err != nil {
			if got != nil || err.Error() == "" {
				t.Errorf("%q: %v and a filter", s, err)
			}
			return
		}
		if len(got) != len(strings.Fields(s)) {
			t.Errorf("%q has %d terms", s, len(got))
		}
		got.shows(&r)
		got.shows(&stats.Request{})
	})
}
