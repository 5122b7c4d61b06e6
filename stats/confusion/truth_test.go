package confusion

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"teapot/stats"
)

func TestReadTruth(t *testing.T) {
	const head = `{"truth":1,"clock":"monotonic","now":5000,"wall":1000005000,"profile":"gc","seed":7}` + "\n"
	for _, c := range []struct {
		name, in string
		want     []Fault
		fails    bool
	}{
		{"empty", "", nil, false},
		{"a fault", head + `{"req":"teapot-0000002a-7","i":0,"k":1,"sched":1,"before":1,"t":1}` + "\n" +
			`{"fault":"gc","cause":"c","start":6000,"end":7000,"reqs":["teapot-0000002a-7","odd"]}` + "\n",
			[]Fault{{Kind: GC, Start: 1000, End: 2000, Requests: []uint64{7}}}, false},
		{"a fault without its clock", `{"fault":"gc","start":1,"end":2,"reqs":[]}`, nil, true},
		{"broken", head + `{"fault":`, nil, true},
		{"a line of tokens may be anything", head + "nonsense\n", nil, false},
		{"far too long a line", head + strings.Repeat("x", 2<<20), nil, true},
	} {
		got, err := ReadTruth(strings.NewReader(c.in), 1000005000)
		if (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func FuzzReadTruth(f *testing.F) {
	f.Add(`{"truth":1,"now":1,"wall":2}` + "\n" + `{"fault":"gc","start":1,"end":2,"reqs":["a-1"]}`)
	f.Add(`{"fault":"gc"}`)
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := ReadTruth(strings.NewReader(s), 0); err != nil && !strings.HasPrefix(err.Error(), "truth log: ") {
			t.Error(err)
		}
	})
}

// What is right depends on what there was to tell by.
func TestTheMatrixCounts(t *testing.T) {
	spike := func(at int64, c stats.Cause) stats.Spike {
		return stats.Spike{At: at * ms, Length: 100 * ms, Why: &stats.Why{Cause: c, Evidence: []string{"e"}}, Around: &stats.Around{Receiving: 1}}
	}
	faults := []Fault{{Kind: GC, Start: 1000 * ms, End: 1200 * ms}, {Kind: Stall, Start: 90_000 * ms, End: 90_100 * ms}}
	var m Matrix
	m.Add([]stats.Spike{
		spike(1200, stats.CauseServerGC), spike(1200, stats.CauseEngine), spike(5000, stats.CauseUnknown), spike(6000, stats.CausePath),
	}, faults, Setting{Streams: 2, Metrics: true})
	if m.Right != 1 || m.Wrong != 1 || m.Natural != 2 || m.Accused != 1 || m.Missed[Stall] != 1 || m.Share() != 0.5 || len(m.Wrongs) != 2 {
		t.Errorf("%+v", m)
	}
	if r, n := m.Told(GC, stats.CauseServerGC); r != 1 || n != 2 {
		t.Errorf("told %d of %d", r, n)
	}
	if s := m.String(); !strings.Contains(s, "right 50.0 % of 2, 0 of them by another fault between the same looks; accused 1 of 2 others") {
		t.Error(s)
	}
	m = Matrix{}
	m.Add([]stats.Spike{spike(1200, stats.CauseEngine)}, faults, Setting{Streams: 2})
	if m.Right != 1 {
		t.Errorf("without metrics: %v", &m)
	}
}
