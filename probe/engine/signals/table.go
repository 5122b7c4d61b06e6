package signals

import (
	"bufio"
	_ "embed" // the table of aliases
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed aliases.txt
var aliases string

// kind says how the series of a metric make a figure.
type kind uint8

const (
	gauge kind = iota
	share
	counter
	histogram
	each
)

// Table says which metric of which server means what.
type Table struct {
	rows   []row
	wanted map[string]bool // plain names, with every ending that may be there
}

// row is one figure.
type row struct {
	name    string
	kind    kind
	by      string // the label of each
	sources []source
}

// source is one metric that may be the figure, or the share of two.
type source struct {
	metric, whole selector
	factor        float64
}

// selector is a metric, and the labels that its series must have.
type selector struct {
	name  string // plain, "" for none
	match [][2]string
}

// DefaultTable is the table that comes with the program.
func DefaultTable() *Table {
	t, err := (&Table{}).Extend(strings.NewReader(aliases))
	if err != nil {
		panic("signals: the embedded table: " + err.Error()) // a test reads it
	}
	return t
}

var (
	reName   = regexp.MustCompile(`^[a-z][a-z0-9_.]*$`)
	reMetric = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_:]*$`)
	reEach   = regexp.MustCompile(`^each\(([A-Za-z_][A-Za-z0-9_]*)\)$`)
	reMatch  = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)="([^"\\]*)"$`)
)

// Extend returns a table with the lines of r before those of t: for a figure
// that t has in the same kind, the sources of r are tried first. The error
// names the line.
func (t *Table) Extend(r io.Reader) (*Table, error) {
	next := &Table{wanted: map[string]bool{}}
	for _, old := range t.rows {
		next.add(old, false)
	}
	sc := bufio.NewScanner(io.LimitReader(r, 1<<20))
	sc.Buffer(nil, 64<<10)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		got, err := readRow(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		next.add(got, true)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("read the table of metrics: %w", err)
	}
	return next, nil
}

// add takes in a row; first puts its sources before those that are there.
func (t *Table) add(r row, first bool) {
	for _, s := range r.sources {
		t.want(s.metric.name, r.kind)
		t.want(s.whole.name, r.kind)
	}
	for i := range t.rows {
		have := &t.rows[i]
		if have.name != r.name || have.kind != r.kind || have.by != r.by {
			continue
		}
		if first {
			have.sources = append(slices.Clone(r.sources), have.sources...)
		} else {
			have.sources = append(slices.Clone(have.sources), r.sources...)
		}
		return
	}
	t.rows = append(t.rows, r)
}

// want notes every name under which a metric may stand on a page.
func (t *Table) want(name string, k kind) {
	switch {
	case name == "":
		return
	case k == histogram:
		for _, end := range [...]string{"_bucket", "_sum", "_count"} {
			t.wanted[name+end] = true
		}
		return
	case k == counter:
		t.wanted[otherName(name)] = true
	}
	t.wanted[name] = true
}

// otherName is the other of the two names of a counter.
func otherName(name string) string {
	if cut, ok := strings.CutSuffix(name, "_total"); ok {
		return cut
	}
	return name + "_total"
}

// readRow reads a line of the table.
func readRow(line string) (row, error) {
	f := strings.Fields(line)
	if len(f) < 3 {
		return row{}, fmt.Errorf("%q has no name, kind and source", line)
	}
	r := row{name: f[0]}
	if !reName.MatchString(r.name) {
		return row{}, fmt.Errorf("%q is no name of a figure", r.name)
	}
	var ok bool
	if r.kind, r.by, ok = readKind(f[1]); !ok {
		return row{}, fmt.Errorf("%q is no kind: there is gauge, share, counter, histogram and each(LABEL)", f[1])
	}
	rest := strings.TrimSpace(line[strings.Index(line, f[1])+len(f[1]):])
	for _, text := range strings.Split(rest, "|") {
		s, err := readSource(strings.TrimSpace(text))
		if err != nil {
			return row{}, err
		}
		if s.whole.name != "" && r.kind != share {
			return row{}, fmt.Errorf("%q: only a share is made of two metrics", text)
		}
		r.sources = append(r.sources, s)
	}
	return r, nil
}

func readKind(text string) (kind, string, bool) {
	if m := reEach.FindStringSubmatch(text); m != nil {
		return each, m[1], true
	}
	i := slices.Index([]string{"gauge", "share", "counter", "histogram"}, text)
	return kind(max(i, 0)), "", i >= 0
}

// readSource reads METRIC [/ METRIC] [* NUMBER].
func readSource(text string) (source, error) {
	s := source{factor: 1}
	rest, times, ok := strings.Cut(text, " * ")
	if ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(times), 64)
		if err != nil || !finite(f) || f <= 0 {
			return s, fmt.Errorf("%q is no factor above 0", strings.TrimSpace(times))
		}
		s.factor = f
	}
	part, whole, two := strings.Cut(rest, " / ")
	var err error
	if s.metric, err = readSelector(part); err == nil && two {
		s.whole, err = readSelector(whole)
	}
	return s, err
}

// readSelector reads NAME{label="value",…}.
func readSelector(text string) (selector, error) {
	text = strings.TrimSpace(text)
	name, braces, has := strings.Cut(text, "{")
	s := selector{name: plain(name)}
	if !reMetric.MatchString(name) {
		return s, fmt.Errorf("%q is no name of a metric", name)
	}
	if !has {
		return s, nil
	}
	inner, ok := strings.CutSuffix(braces, "}")
	if !ok {
		return s, fmt.Errorf("%q: the brace is not closed", text)
	}
	for _, pair := range strings.Split(inner, ",") {
		m := reMatch.FindStringSubmatch(strings.TrimSpace(pair))
		if m == nil {
			return s, fmt.Errorf(`%q is not of the form label="value"`, pair)
		}
		s.match = append(s.match, [2]string{m[1], m[2]})
	}
	return s, nil
}
