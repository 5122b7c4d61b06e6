package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"teapot/stats"
)

// The shape of a comparison as JSON; the rules of the report's hold here, too.
type compared struct {
	Version    int          `json:"version"`
	A          *comparedRun `json:"a"` // null where both are endpoints of the run that is reported on
	B          *comparedRun `json:"b"`
	Settings   []setting    `json:"settings_that_differ"`
	Targets    []pair       `json:"targets"`
	Alone      []string     `json:"not_compared"`
	Conditions []condition  `json:"fail_if"`
	Failed     bool         `json:"failed"` // a condition holds
}

type comparedRun struct {
	Name     string   `json:"name"`
	Complete bool     `json:"complete"`
	Started  *string  `json:"started"`
	ElapsedS float64  `json:"elapsed_s"`
	Settings settings `json:"settings"`
}

type setting struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

type pair struct {
	A          string                     `json:"a"` // URLs
	B          string                     `json:"b"`
	Verdict    string                     `json:"verdict"`
	Slower     []string                   `json:"slower"` // by more than chance
	Faster     []string                   `json:"faster"`
	Figures    map[string]map[string]move `json:"figures"`
	Errors     move                       `json:"errors"` // shares
	Stalls     move                       `json:"stalls_per_1000_tokens"`
	Throughput move                       `json:"output_tok_s"`
	Causes     []causePair                `json:"causes"`
}

// move is one number of both runs, in ms unless it is a share or a rate.
type move struct {
	A      *float64   `json:"a"`
	B      *float64   `json:"b"`
	Change *float64   `json:"change"` // b − a
	Ratio  *float64   `json:"ratio"`  // b / a
	Sign   *string    `json:"sign"`   // "up", "down", "none"; null where nothing tells chance
	ACI    []*float64 `json:"a_ci"`   // 99 %, made wider by how the run wobbled; null ends do not exist
	BCI    []*float64 `json:"b_ci"`
}

type causePair struct {
	Cause *string    `json:"cause"` // null: unexplained
	A     *causeHalf `json:"a"`
	B     *causeHalf `json:"b"`
}

type causeHalf struct {
	Spikes  uint64  `json:"spikes"`
	Total   float64 `json:"total_ms"`
	Verdict string  `json:"verdict"`
}

type condition struct {
	Expr    string `json:"expr"`
	Target  string `json:"target"`
	Outcome string `json:"outcome"`
	Holds   bool   `json:"holds"`
}

// JSON writes the comparison as one JSON document, indented, ended by a newline.
func (c *Comparison) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c.document()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (c *Comparison) document() *compared {
	d := &compared{Version: 1, Settings: []setting{}, Targets: []pair{}, Alone: []string{}, Conditions: []condition{}}
	if !c.within {
		d.A, d.B = newComparedRun(&c.A), newComparedRun(&c.B)
	}
	for _, s := range c.Settings {
		d.Settings = append(d.Settings, setting(s))
	}
	d.Alone = append(d.Alone, c.Alone...)
	for _, v := range c.Pairs {
		d.Targets = append(d.Targets, newPair(v))
	}
	for i := range c.Judged {
		j := &c.Judged[i]
		d.Conditions = append(d.Conditions, condition{clean(j.Expr), name(j.Pair.B), j.Outcome.String(), j.Outcome == stats.Holds})
		d.Failed = d.Failed || j.Outcome == stats.Holds
	}
	return d
}

func newComparedRun(r *Run) *comparedRun {
	return &comparedRun{clean(r.Name), Complete(r.Snap), started(r.Snap), seconds(r.Snap.Now), newSettings(r.Snap, Options{})}
}

func newPair(v *stats.Versus) pair {
	p := pair{
		A: name(v.A), B: name(v.B), Verdict: verdict(v), Slower: []string{}, Faster: []string{}, Figures: map[string]map[string]move{},
		Errors: newMove(&v.Errors, 1), Stalls: newMove(&v.Stalls, 1), Throughput: newMove(&v.Speed, 1), Causes: []causePair{},
	}
	up, down := v.Changed()
	for _, n := range up {
		p.Slower = append(p.Slower, n.String())
	}
	for _, n := range down {
		p.Faster = append(p.Faster, n.String())
	}
	for i := range v.Figures {
		of := map[string]move{}
		for j := range v.Figures[i].Moves {
			m := &v.Figures[i].Moves[j]
			of[m.Name] = newMove(m, 1e-6)
		}
		p.Figures[v.Figures[i].Name] = of
	}
	for i := range v.Causes {
		x := &v.Causes[i]
		p.Causes = append(p.Causes, causePair{str(string(x.Cause)), newCauseHalf(x.A), newCauseHalf(x.B)})
	}
	return p
}

func newCauseHalf(r *stats.CauseRow) *causeHalf {
	if r == nil {
		return nil
	}
	return &causeHalf{r.Count, ms(r.Total), r.Verdict().String()}
}

// newMove writes a move, its numbers times scale.
func newMove(m *stats.Move, scale float64) move {
	one := func(v float64, has bool) *float64 {
		// To nine digits, so that scaling leaves no dust behind.
		return num(math.Round(v*scale*1e9)/1e9, has && !math.IsInf(v, 0))
	}
	j := move{A: one(m.A, m.HasA), B: one(m.B, m.HasB), Change: one(m.B-m.A, m.HasA && m.HasB)}
	if r, ok := m.Ratio(); ok {
		j.Ratio = num(math.Round((r+1)*1e6)/1e6, true)
	}
	if word := map[stats.Change]string{stats.ChangeUp: "up", stats.ChangeDown: "down", stats.ChangeNone: "none"}[m.Change]; word != "" {
		j.Sign = &word
		j.ACI = []*float64{one(m.ALo, true), one(m.AHi, true)}
		j.BCI = []*float64{one(m.BLo, true), one(m.BHi, true)}
	}
	return j
}

// Render writes the comparison in a form by its name: "text", "markdown" or
// "json"; "none" is empty.
func (c *Comparison) Render(form string, o Options) (string, error) {
	switch form {
	case "text":
		return c.Text(o), nil
	case "markdown":
		return c.Markdown(), nil
	case "json":
		b, err := c.JSON()
		return string(b), err
	case "none":
		return "", nil
	}
	return "", fmt.Errorf("there is no comparison as %q", form)
}
