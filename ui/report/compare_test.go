package report

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
)

// slower is the run of article with every gap a tenth longer, another model and
// more streams, and with failures.
func slower() *stats.Snapshot {
	s := article()
	t := s.Targets[0]
	t.Info.Model, t.Info.Version = "teapot-article-v2", "0.1.1"
	s.Load.Concurrency, s.Load.PromptTokens, s.Load.Cold = 16, 512, false
	f := &t.Session
	f.Gap = makeFigure(70000, 0.9, 3.82, [6]float64{1.76, 7.94, 10.2, 14.17, 39.9, 119}, 175)
	for i := range f.Gap.Q[:stats.P999] { // known well
		q := &f.Gap.Q[i]
		q.Lo, q.Hi = q.Value-q.Value/100, q.Value+q.Value/100
	}
	f.ITL = f.Gap
	f.TTFT = makeFigure(12, 12.2, 15.1, [6]float64{14.5, 19.8, 0, 0, 0, 0}, 24.1)
	f.Requests.Failed, f.Requests.ByClass = 40, map[event.Class]uint64{event.OKFull: 271, event.ErrReset: 30, event.ErrFirst: 10}
	t.Causes = causes().Targets[0].Causes
	return s
}

func against() *Comparison {
	return Compare(Run{"before.json", article()}, Run{"after.teapot", slower()}, []stats.Condition{
		{Expr: "gap.p99>+5%", Metric: "gap", Of: "p99", Over: true, Relative: true, Percent: true, Limit: 0.05},
		{Expr: "gap.p99.9>+0.1%", Metric: "gap", Of: "p99.9", Over: true, Relative: true, Percent: true, Limit: 0.001},
		{Expr: "ttft.p99>1s", Metric: "ttft", Of: "p99", Over: true, Limit: 1e9},
		{Expr: "err>1%", Metric: "err", Over: true, Percent: true, Limit: 0.01},
	})
}

func TestCompareGoldens(t *testing.T) {
	for _, c := range []struct {
		name string
		c    *Comparison
	}{
		{"compare", against()},
		{"compare-same", Compare(Run{"a.json", article()}, Run{"b.json", article()}, nil)},
		{"compare-failed", Compare(Run{"a.json", article()}, Run{"b.json", failed()}, nil)},
		{"compare-hostile", Compare(Run{"\x1b[31m|a.json", hostile()}, Run{"b\n.json", hostile()}, nil)},
		{"compare-two", Compare(Run{"a.json", two()}, Run{"b.json", article()}, nil)},
		{"compare-empty", Compare(Run{"a.json", empty()}, Run{"b.json", empty()}, nil)},
	} {
		text, err := c.c.Render("text", Options{})
		if err != nil {
			t.Fatal(err)
		}
		golden(t, c.name+".txt", text)
		golden(t, c.name+".md", c.c.Markdown())
		b, err := c.c.JSON()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, c.name+".json", string(b))
		if strings.ContainsRune(text, 0x1b) || strings.ContainsRune(c.c.Markdown(), 0x1b) {
			t.Errorf("%s: an escape sequence", c.name)
		}
		if ascii := c.c.Text(Options{ASCII: true}); strings.IndexFunc(ascii, func(r rune) bool { return r > 0x7f }) >= 0 {
			t.Errorf("%s: not ASCII", c.name)
		}
	}
}

func TestCompareVerdicts(t *testing.T) {
	code, why := against().Verdict()
	if code != ExitMissed || !strings.Contains(why, "gap.p99>+5%") || !strings.Contains(why, "err>1%") {
		t.Errorf("%d %q", code, why)
	}
	if strings.Contains(why, "p99.9") {
		t.Errorf("a change within chance fails: %q", why)
	}
	only := func(c ...stats.Condition) (int, string) {
		return Compare(Run{"a", article()}, Run{"b", slower()}, c).Verdict()
	}
	if code, why := only(stats.Condition{Expr: "x", Metric: "ttft", Of: "p99.99", Over: true, Limit: 1}); code != ExitFailed || !strings.Contains(why, "no such number") {
		t.Errorf("%d %q", code, why)
	}
	if code, why := only(stats.Condition{Expr: "x", Metric: "gap", Of: "p50", Over: true, Limit: 1e9}); code != ExitOK || why != "" {
		t.Errorf("%d %q", code, why)
	}
	if v := verdict(stats.Hold(article().Targets[0], article().Targets[0])); v != "no change beyond chance" {
		t.Error(v)
	}
	for _, c := range []struct {
		a, b *stats.Snapshot
		want string
	}{
		{article(), slower(), "B is slower: "}, {slower(), article(), "B is faster: "},
	} {
		if v := verdict(stats.Hold(c.a.Targets[0], c.b.Targets[0])); !strings.HasPrefix(v, c.want) {
			t.Errorf("%q, want %q", v, c.want)
		}
	}
}

// A report that was written and read back compares as the run itself does, to
// the last digit.
func TestParseGivesTheSameComparison(t *testing.T) {
	back := func(s *stats.Snapshot) *stats.Snapshot {
		b, err := JSON(s, Options{Limits: limitsOfRun()})
		if err != nil {
			t.Fatal(err)
		}
		read, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		return read
	}
	for _, x := range flavours() {
		for _, y := range flavours() {
			if x.name == "hostile" || y.name == "hostile" { // its numbers are none that a run has
				continue
			}
			wobbling(x.s)
			want, err := Compare(Run{"a", x.s}, Run{"b", y.s}, nil).JSON()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Compare(Run{"a", back(x.s)}, Run{"b", back(y.s)}, nil).JSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s against %s (-of the run +of its report):\n%s", x.name, y.name, diff)
			}
		}
	}
}

// wobbling gives a run's figures a spread.
func wobbling(s *stats.Snapshot) {
	for _, t := range s.Targets {
		g := &t.Session.Gap
		if g.N > 1000 {
			g.MeanErr = 40_000
			for i := range g.Q {
				g.Q[i].Spread = 1.5 + float64(i)
			}
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "neither"}, {"a list", "[]", "neither"}, {"another document", `{"a":1}`, "neither"}, {"cut", `{"version":1,"tar`, "neither"},
		{"no targets", `{"version":1}`, "neither"}, {"newer", `{"version":2,"targets":[]}`, "newer"}, {"a string", `{"version":1,"targets":"x"}`, "neither"},
		{"a number beyond all", `{"version":1,"targets":[],"elapsed_s":1e308}`, "no run can have"},
	} {
		if _, err := Parse([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, x := range flavours() {
		b, err := JSON(x.s, Options{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"version":1,"targets":[{"figures":{"gap":{"n":3,"mean":-1,"p50":1e300,"ci":{"p50":[5,null]}}}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err != nil {
			return
		}
		c := Compare(Run{"a", s}, Run{"b", article()}, nil)
		if j, err := c.JSON(); err != nil || !json.Valid(j) {
			t.Fatalf("%v: %s", err, j)
		}
		if text := c.Text(Options{}) + c.Markdown(); strings.ContainsAny(text, "\x1b\x00") || strings.Contains(text, "NaN") {
			t.Fatalf("%q", text)
		}
	})
}

// However the numbers lie: a sign is given only to intervals that lie apart, and
// B against A is A against B the other way around.
func TestCompareIsFair(t *testing.T) {
	figure := func(t *rapid.T) stats.Figure {
		n := rapid.Uint64Range(0, 50_000).Draw(t, "n")
		v := rapid.Float64Range(0.1, 100).Draw(t, "v")
		fig := makeFigure(n, v/2, v*1.2, [6]float64{v, v * 2, v * 3, v * 5, v * 9, v * 20}, v*30)
		fig.MeanErr = rapid.Float64Range(0, v*1e5).Draw(t, "err")
		for i := range fig.Q {
			fig.Q[i].Spread = rapid.Float64Range(0, 9).Draw(t, "spread")
		}
		return fig
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := article().Targets[0], article().Targets[0]
		a.Session.Gap, b.Session.Gap = figure(t), figure(t)
		x, y := stats.Hold(a, b), stats.Hold(b, a)
		for i := range x.Figures {
			for j := range x.Figures[i].Moves {
				m, w := &x.Figures[i].Moves[j], &y.Figures[i].Moves[j]
				turned := map[stats.Change]stats.Change{stats.ChangeUp: stats.ChangeDown, stats.ChangeDown: stats.ChangeUp}
				want, moved := turned[m.Change]
				if !moved {
					want = m.Change
				}
				if w.Change != want {
					t.Fatalf("%s %s: %v one way, %v the other", x.Figures[i].Name, m.Name, m.Change, w.Change)
				}
				if m.Change == stats.ChangeUp && !(m.B > m.A && m.BLo > m.AHi) || math.IsNaN(m.ALo) || math.IsNaN(m.BHi) {
					t.Fatalf("%+v", *m)
				}
			}
		}
	})
}
