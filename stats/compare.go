package stats

// Change says how a quantile moved between two samples.
type Change uint8

// The changes.
const (
	ChangeUnknown Change = iota // one of the two has too few samples to have that quantile
	ChangeNone                  // the 95 % intervals overlap: no more than chance
	ChangeUp                    // longer, and more than chance
	ChangeDown                  // shorter, and more than chance
)

// String is the sign of the change: ≈ ▲ ▼, or – where nothing can be said.
func (c Change) String() string {
	signs := [...]string{"–", "≈", "▲", "▼"}
	if int(c) < len(signs) {
		return signs[c]
	}
	return signs[ChangeUnknown]
}

// Compare tells whether a quantile of one sample differs from that of another
// by more than chance: it does where their 95 % intervals, which come from order
// statistics and hold whatever the distribution, do not overlap. Two such
// intervals lie apart by chance alone less often than once in a hundred. An end
// of an interval that does not exist at this n is endless.
func Compare(before, now Quantile) Change {
	switch {
	case before.Mark == MarkNone || now.Mark == MarkNone:
		return ChangeUnknown
	case now.Lo > before.Hi && !before.HiOpen && !now.LoOpen:
		return ChangeUp
	case now.Hi < before.Lo && !now.HiOpen && !before.LoOpen:
		return ChangeDown
	}
	return ChangeNone
}
