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
	if rank(r.Errors, 1) != 0 || rank(r.Delays, 1) != 0 || rank(r.First, 1) != 0 || rank(r.LateError, 1) != 0 {
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
	got, err := parse(strings.NewReader("sent 0 100\n0 0 200 5\n0 1 300 6\nsent 1 150\n1 0 250 0\ncpu 77\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got.cpu != 77 || !got.known {
		t.Errorf("cpu %d, known %v", got.cpu, got.known)
	}
	heard := got.heard
	if len(heard) != 2 || heard[0].ID != "c-0" || heard[0].Sent != 100 || !slices.Equal(heard[0].At, []int64{200, 300}) ||
		!slices.Equal(heard[0].Late, []int64{5, 6}) || heard[1].ID != "c-1" || len(heard[1].At) != 1 {
		t.Errorf("%+v", heard)
	}
	for _, bad := range []string{"0 0 1 2\n", "sent 0 1\n0 1 5 0\n", "sent 0 1\n1 0 5 0\n", "sent 0 x\n", "sent 0 1\n0 0 5\n", "Traceback\n", "cpu x\n", "0 0 1 2 3\n"} {
		if _, err := parse(strings.NewReader(bad)); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// Whatever a client's clock and however it errs: every gap is stood for or
// disowned, a constant delay is no error, and no gap is farther off than its two
// ends together.
func TestErrorsAreBoundedByTheDelays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := wrote("a", 40)
		w.Behind = []int64{7}
		clock := rapid.Int64Range(-1e12, 1e12).Draw(t, "clock")
		h := echo(w, clock)
		delay := rapid.SliceOfN(rapid.Int64Range(0, 5e5), 40, 40).Draw(t, "delay")
		for i := range h.At {
			h.At[i] += delay[i]
			h.Merged[i] = rapid.Bool().Draw(t, "merged")
		}
		r, err := compare(Log{Streams: []Written{w}}, []Heard{h}, clock, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Errors)+r.Disowned != 40-settle || len(r.Client) != len(r.Errors) || len(r.Server) != len(r.Errors) || len(r.Behind) != 1 {
			t.Fatalf("%d errors, %d disowned", len(r.Errors), r.Disowned)
		}
		worst := int64(0)
		for i := settle; i < 40; i++ {
			if !h.Merged[i] {
				worst = max(worst, abs(delay[i]-delay[i-1]))
			}
		}
		if rank(r.Errors, 1) != worst {
			t.Fatalf("the largest error is %d, want %d", rank(r.Errors, 1), worst)
		}
		if len(r.Errors) > 0 && worst > 0 && abs(delay[r.WorstAt]-delay[r.WorstAt-1]) != worst {
			t.Fatalf("token %d is not the worst", r.WorstAt)
		}
		if r.Delays[0] < 0 || r.Delays[len(r.Delays)-1] > 5e5 {
			t.Fatalf("delays from %d to %d", r.Delays[0], r.Delays[len(r.Delays)-1])
		}
	})
}

func TestBursts(t *testing.T) {
	cases := []struct {
		name           string
		apart, before  int64 // ns: the server's gap within the read, and that before it
		joined, beyond int
	}{
		{"a burst", 20e3, 1e6, 1, 0},
		{"within the heartbeat", 1e6, 1e6, 1, 0},
		{"joined by the client", 11e5, 1e6, 1, 1},
		{"behind a long hold", 4e6, 100e6, 1, 0},
		{"more than its twentieth", 6e6, 100e6, 1, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := wrote("a", 20)
			for i := 15; i < 20; i++ {
				w.Before[i] = w.Before[14] + c.before + int64(i-15)*1e6
			}
			for i := 16; i < 20; i++ {
				w.Before[i] = w.Before[15] + c.apart + int64(i-16)*1e6
			}
			h := echo(w, 0)
			h.At[15] = h.At[16] // one read
			r, err := compare(Log{Streams: []Written{w}}, []Heard{h}, 0, true)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Joined) != c.joined || r.Joined[0] != c.apart || r.Beyond != c.beyond || r.Together != 1 {
				t.Errorf("joined %v, %d beyond, %d together", r.Joined, r.Beyond, r.Together)
			}
		})
	}
}

// Lateness is wrong by as much as the moment it counts from lies outside the
// write.
func TestLatenessIsHeldAgainstTheWrite(t *testing.T) {
	for _, c := range []struct{ moved, want int64 }{{0, 0}, {2000, 0}, {3000, 0}, {5000, 2000}, {-700, 700}} {
		w := wrote("a", 10)
		h := echo(w, 0)
		h.At[9] += c.moved
		r, err := compare(Log{Streams: []Written{w}}, []Heard{h}, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := rank(r.LateError, 1); got != c.want {
			t.Errorf("moved by %d: off by %d, want %d", c.moved, got, c.want)
		}
	}
}
