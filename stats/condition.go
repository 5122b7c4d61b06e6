package stats

// Condition is something that a comparison must not show.
type Condition struct {
	Expr     string  // as normalised: "gap.p99>+10%", "ttft.p50>500ms", "err>1%"
	Metric   string  // one of VersusMetrics, or "err"
	Of       string  // one of MoveNames; "" for err
	Over     bool    // > and not <
	Relative bool    // of the change from A to B, and not of B alone
	Percent  bool    // Limit is a share of A (of all requests, for err), and not ns
	Limit    float64 // signed where Relative
}

// Outcome is what a comparison says of a Condition.
type Outcome uint8

// The outcomes.
const (
	NotHeld  Outcome = iota // the numbers do not show it
	ByChance                // they do, but by no more than chance
	Holds
	NoNumbers // one of the runs lacks the number
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"does not hold", "within chance", "holds", "no such number"}[min(o, NoNumbers)]
}

// Find returns the number that a condition is about; nil when no run has it.
func (v *Versus) Find(metric, of string) *Move {
	if metric == "err" {
		return &v.Errors
	}
	for i := range v.Figures {
		for j := range v.Figures[i].Moves {
			if v.Figures[i].Name == metric && v.Figures[i].Moves[j].Name == of {
				return &v.Figures[i].Moves[j]
			}
		}
	}
	for was, same := range map[string]string{"itl": "gap", "ttfo": "ttft"} {
		if metric == was { // left out because it is the same
			return v.Find(same, of)
		}
	}
	return nil
}

// Judge tells whether a condition holds. One on a change holds where the change
// of the numbers passes the limit and is itself more than chance; one on B alone
// where all of the confidence interval passes the limit. A maximum has no
// interval and is taken as it is.
func (v *Versus) Judge(c *Condition) Outcome {
	m := v.Find(c.Metric, c.Of)
	if m == nil || !m.HasB || c.Relative && !m.HasA {
		return NoNumbers
	}
	beyond := func(x, limit float64) bool {
		if c.Over {
			return x > limit
		}
		return x < limit
	}
	if !c.Relative {
		sure := m.B
		switch {
		case m.Name == MoveNames[len(MoveNames)-1]:
		case c.Over:
			sure = m.BLo
		default:
			sure = m.BHi
		}
		return outcome(beyond(m.B, c.Limit), beyond(sure, c.Limit))
	}
	limit := c.Limit
	if c.Percent && c.Metric != "err" {
		limit *= m.A
	}
	want := ChangeDown
	if m.B > m.A {
		want = ChangeUp
	}
	sure := m.Change == want || m.Name == MoveNames[len(MoveNames)-1]
	if limit == 0 || beyond(0, limit) { // no change passes it, too
		sure = sure || beyond(0, limit)
	}
	return outcome(beyond(m.B-m.A, limit), sure)
}

func outcome(shown, sure bool) Outcome {
	switch {
	case !shown:
		return NotHeld
	case !sure:
		return ByChance
	}
	return Holds
}

// Changed lists what changed by more than chance, longer (or more errors) and
// shorter, in the order of the figures.
func (v *Versus) Changed() (up, down []NamedMove) {
	put := func(n NamedMove) {
		switch n.Change {
		case ChangeUp:
			up = append(up, n)
		case ChangeDown:
			down = append(down, n)
		}
	}
	for i := range v.Figures {
		for j := range v.Figures[i].Moves {
			put(NamedMove{v.Figures[i].Name, &v.Figures[i].Moves[j]})
		}
	}
	put(NamedMove{"", &v.Errors})
	return up, down
}

// NamedMove is a number with the name of its figure.
type NamedMove struct {
	Figure string
	*Move
}

// String is "gap p99"; "errors" for those.
func (n NamedMove) String() string {
	if n.Figure == "" {
		return n.Name
	}
	return n.Figure + " " + n.Name
}
