package stats

import (
	"math/rand/v2"
	"testing"
)

func TestCompare(t *testing.T) {
	q := func(lo, v, hi int64) Quantile { return Quantile{Lo: lo, Value: v, Hi: hi, Mark: MarkOK} }
	open := q(10, 12, 14)
	open.HiOpen = true
	none := q(1, 2, 3)
	none.Mark = MarkNone
	few := q(1, 2, 3)
	few.LoOpen, few.HiOpen, few.Mark = true, true, MarkApprox
	for _, c := range []struct {
		name        string
		before, now Quantile
		want        Change
		sign        string
	}{
		{"apart, up", q(10, 12, 14), q(15, 16, 20), ChangeUp, "▲"},
		{"apart, down", q(10, 12, 14), q(3, 5, 9), ChangeDown, "▼"},
		{"overlapping", q(10, 12, 14), q(13, 15, 20), ChangeNone, "≈"},
		{"touching", q(10, 12, 14), q(14, 15, 20), ChangeNone, "≈"},
		{"the same", q(10, 12, 14), q(10, 12, 14), ChangeNone, "≈"},
		{"nothing is above an open end", open, q(100, 160, 200), ChangeNone, "≈"},
		{"an open end below", q(20, 22, 24), open, ChangeNone, "≈"},
		{"an open end above", q(1, 2, 3), open, ChangeUp, "▲"},
		{"so few that both ends are open", few, q(100, 160, 200), ChangeNone, "≈"},
		{"so few, below", q(100, 160, 200), few, ChangeNone, "≈"},
		{"no such quantile before", none, q(10, 12, 14), ChangeUnknown, "–"},
		{"no such quantile now", q(10, 12, 14), none, ChangeUnknown, "–"},
	} {
		if got := Compare(c.before, c.now); got != c.want || got.String() != c.sign {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if s := Change(9).String(); s != "–" {
		t.Errorf("a change that is none reads %q", s)
	}
}

// Two samples of one law differ by chance alone, and are hardly ever told apart;
// two laws that are far from each other always are, and the right way around.
func TestCompareAccusesChanceRarely(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int, scale float64) Figure {
		p := pile{}
		for range n {
			v := int64(scale * (10e6 + r.ExpFloat64()*5e6))
			p.add(v, 1, v)
		}
		return p.figure()
	}
	const rounds = 400
	accused, seen := 0, 0
	for range rounds {
		a, b, c := draw(1500, 1), draw(1500, 1), draw(1500, 2)
		for _, i := range [...]int{P50, P90, P99} {
			if Compare(a.Q[i], b.Q[i]) != ChangeNone {
				accused++
			}
			if Compare(a.Q[i], c.Q[i]) == ChangeUp && Compare(c.Q[i], a.Q[i]) == ChangeDown {
				seen++
			}
		}
	}
	t.Logf("%d of %d pairs of one law are told apart", accused, 3*rounds)
	if 100*accused > 3*rounds {
		t.Errorf("%d of %d pairs of one law are told apart", accused, 3*rounds)
	}
	if seen != 3*rounds {
		t.Errorf("%d of %d pairs of two laws are told apart", seen, 3*rounds)
	}
}
