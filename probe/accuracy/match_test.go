package accuracy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// wrote is a stream of n tokens, a millisecond apart.
func wrote(id string, n int) Written {
	w := Written{ID: id, Heard: 1000}
	for i := range n {
		at := int64(5e6 + 1e6*float64(i))
		w.Before, w.After = append(w.Before, at), append(w.After, at+3000)
	}
	return w
}

// echo is a client that tells exactly what was written, on a clock that is
// behind by the offset.
func echo(w Written, offset int64) Heard {
	h := Heard{ID: w.ID, Sent: w.Heard - offset}
	for i := range w.Before {
		h.At = append(h.At, w.Before[i]-offset)
		h.Late, h.Merged = append(h.Late, 7000), append(h.Merged, false)
	}
	return h
}

func TestAnExactClientHasNoError(t *testing.T) {
	w := wrote("a", 50)
	r, err := compare(Log{Streams: []Written{w}}, []Heard{echo(w, 123456)}, 123456, true)
	if err != nil {
		t.Fatal(err)
	}
	if n := 50 - settle; len(r.Errors) != n || len(r.Delays) != n || len(r.LateError) != n || r.Tokens != 50 || r.Missing != 0 {
		t.Fatalf("%d errors, %d delays, %d of lateness, %d tokens, %d missing", len(r.Errors), len(r.Delays), len(r.LateError), r.Tokens, r.Missing)
	}
	if rank(r.Errors, 1) != 0 || rank(r.Delays, 1) != 0 || rank(r.First, 1) != 0 || rank(r.LateError, 1) != 3000 {
		t.Errorf("errors %d, delays %d, first %d, lateness %d", rank(r.Errors, 1), rank(r.Delays, 1), rank(r.First, 1), rank(r.LateError, 1))
	}
}

func TestErrorsAreThoseOfGaps(t *testing.T) {
	w := wrote("a", 20)
	h := echo(w, 0)
	h.At[15] += 300e3 // one token late: the gap before and the gap behind are wrong
	h.Sent -= 40e3
	r, err := compare(Log{Streams: []Written{w}}, []Heard{h}, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if rank(r.Errors, 1) != 300e3 || r.Errors[len(r.Errors)-2] != 300e3 || r.Errors[len(r.Errors)-3] != 0 {
		t.Errorf("errors %v", r.Errors)
	}
	if r.First[0] != 40e3 {
		t.Errorf("TTFT is wrong by %d", r.First[0])
	}
}

func TestWhatAClientDisownsIsNoError(t *testing.T) {
	w := wrote("a", 20)
	h := echo(w, 0)
	h.At[14], h.At[15] = h.At[16], h.At[16] // three tokens in one late read
	h.Merged[14], h.Merged[15], h.Merged[16] = true, true, true
	r, err := compare(Log{Streams: []Written{w}}, []Heard{h}, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if r.Disowned != 3 || r.Together != 2 || rank(r.Errors, 1) != 0 {
		t.Errorf("%d disowned, %d together, worst error %d", r.Disowned, r.Together, rank(r.Errors, 1))
	}
	h.Merged = nil // and one that does not know better
	if r, _ = compare(Log{Streams: []Written{w}}, []Heard{h}, 0, true); r.Disowned != 0 || rank(r.Errors, 1) != 2e6 {
		t.Errorf("%d disowned, worst error %d", r.Disowned, rank(r.Errors, 1))
	}
}

func TestLogsThatDoNotMatch(t *testing.T) {
	w := wrote("a", 20)
	long := echo(wrote("a", 21), 0)
	for name, tc := range map[string]struct {
		log   []Written
		heard Heard
		want  string
	}{
		"a stranger":     {[]Written{w}, Heard{ID: "b"}, "knows nothing"},
		"twice":          {[]Written{w, w}, echo(w, 0), "two streams"},
		"more than sent": {[]Written{w}, long, "20 tokens were written and 21 heard"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := compare(Log{Streams: tc.log}, []Heard{tc.heard}, 0, true); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v", err)
			}
		})
	}
	r, err := compare(Log{Streams: []Written{w}}, []Heard{echo(wrote("a", 12), 0)}, 0, true)
	if err != nil || r.Missing != 8 {
		t.Errorf("%d missing, %v", r.Missing, err)
	}
}

func TestRankIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 200).Draw(t, "values")
		slices.Sort(v)
		p := rapid.SampledFrom([]float64{0.5, 0.9, 0.99, 0.999, 1}).Draw(t, "p")
		got := rank(v, p)
		atMost, below := 0, 0
		for _, x := range v {
			if x <= got {
				atMost++
			}
			if x < got {
				below++
			}
		}
		if float64(atMost) < p*float64(len(v))-1e-6 || float64(below) >= p*float64(len(v))+1e-6 {
			t.Fatalf("P%g of %v is %d", 100*p, v, got)
		}
	})
	if rank(nil, 0.5) != 0 {
		t.Error("of nothing")
	}
}

func TestWhatClientsPrint(t *testing.T) {
	heard, err := parse(strings.NewReader("sent 0 100\n0 0 200 5\n0 1 300 6\nsent 1 150\n1 0 250 0\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(heard) != 2 || heard[0].ID != "c-0" || heard[0].Sent != 100 || !slices.Equal(heard[0].At, []int64{200, 300}) ||
		!slices.Equal(heard[0].Late, []int64{5, 6}) || heard[1].ID != "c-1" || len(heard[1].At) != 1 {
		t.Errorf("%+v", heard)
	}
	for _, bad := range []string{"0 0 1 2\n", "sent 0 1\n0 1 5 0\n", "sent 0 1\n1 0 5 0\n", "sent 0 x\n", "sent 0 1\n0 0 5\n", "Traceback\n"} {
		if _, err := parse(strings.NewReader(bad)); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}
