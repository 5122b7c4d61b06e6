package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
	"teapot/ui/format"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got), -update writes it anew:\n%s", name, diff)
	}
}

func limitsOfRun() *event.Limits {
	return &event.Limits{Connect: 5e9, First: 30e9, Idle: 30e9, Total: 600e9}
}

func TestGoldens(t *testing.T) {
	for _, c := range flavours() {
		o := Options{Limits: limitsOfRun()}
		golden(t, c.name+".txt", text(c.s, o, fixedReading))
		golden(t, c.name+".md", markdown(c.s, o, fixedReading))
		golden(t, c.name+".table", Table(c.s))
		b, err := marshal(c.s, o, fixedReading)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, c.name+".json", string(b))
	}
	golden(t, "few.ascii.txt", text(few(), Options{ASCII: true}, fixedReading))
}

// all returns every output for a snapshot by its name.
func all(t interface{ Fatal(...any) }, s *stats.Snapshot, read reader) map[string]string {
	b, err := marshal(s, Options{}, read)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"text": text(s, Options{}, read), "ascii": text(s, Options{ASCII: true}, read),
		"markdown": markdown(s, Options{}, read), "table": Table(s), "json": string(b),
	}
}

var (
	notANumber = regexp.MustCompile(`\b(NaN|[+-]?Inf(inity)?)\b`)
	tooLarge   = regexp.MustCompile(`\d{25}`)
)

func checkOutputs(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, s *stats.Snapshot) {
	for name, out := range all(t, s, fixedReading) {
		if !utf8.ValidString(out) || !strings.HasSuffix(out, "\n") {
			t.Fatalf("%s is not whole text: %q", name, out)
		}
		for _, r := range out {
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' {
				t.Fatalf("%s has %U in it:\n%s", name, r, out)
			}
			if name == "ascii" && r >= 0x80 {
				t.Fatalf("%U is not ASCII", r)
			}
		}
		if strings.Contains(out, secret) {
			t.Fatalf("%s shows a secret:\n%s", name, out)
		}
		if bad := notANumber.FindString(out); bad != "" {
			t.Fatalf("%s has %s in it:\n%s", name, bad, out)
		}
		if bad := tooLarge.FindString(out); bad != "" {
			t.Fatalf("%s has the number %s in it:\n%s", name, bad, out)
		}
	}
	lines := strings.Split(strings.TrimSuffix(Table(s), "\n"), "\n")
	if len(lines) > maxTableLines {
		t.Fatalf("the table has %d lines", len(lines))
	}
	for _, l := range lines {
		if format.Width(l) > textWidth {
			t.Fatalf("%q is %d columns wide", l, format.Width(l))
		}
	}
}

func TestOutputsAreClean(t *testing.T) {
	for _, c := range flavours() {
		checkOutputs(t, c.s)
	}
	many := article()
	for len(many.Targets) < 9 {
		many.Targets = append(many.Targets, many.Targets[0])
		checkOutputs(t, many)
	}
	if !strings.Contains(Table(many), "and 4 more\n") {
		t.Errorf("nine endpoints:\n%s", Table(many))
	}
}

// Whatever a snapshot holds, nothing undefined comes out as a number.
func TestOutputsOfAnySnapshot(t *testing.T) {
	number := rapid.SampledFrom([]float64{0, 1, 0.5, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 1e-300, 12345.678})
	length := rapid.SampledFrom([]int64{0, 1, -1, 999_999, 12.88e6, 30e9, 3600e9, math.MaxInt64, math.MinInt64})
	amount := rapid.SampledFrom([]uint64{0, 1, 9, 10, 99, 10000, 70000, math.MaxUint64})
	figure := rapid.Custom(func(t *rapid.T) stats.Figure {
		f := stats.Figure{N: amount.Draw(t, "n"), Min: length.Draw(t, "min"), Max: length.Draw(t, "max"),
			Mean: number.Draw(t, "mean"), Censored: amount.Draw(t, "censored")}
		for i := range f.Q {
			f.Q[i] = stats.Quantile{Value: length.Draw(t, "value"), Mark: stats.Mark(rapid.IntRange(0, 2).Draw(t, "mark")),
				Censored: rapid.Bool().Draw(t, "at least"), Lo: length.Draw(t, "lo"), Hi: length.Draw(t, "hi")}
		}
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		s := article()
		f := &s.Targets[0].Session
		for _, p := range []*stats.Figure{&f.TTFT, &f.TTFO, &f.Gap, &f.ITL, &f.TPOT, &f.E2E, &f.SchedTTFT, &f.SchedE2E, &f.Late} {
			*p = figure.Draw(t, "figure")
		}
		for _, p := range []*float64{&f.SpeedMedian, &f.SpeedSlow10, &f.OutputRate, &f.PromptRate, &f.RequestRate, &f.TokensPerEvent,
			&f.ErrorRate, &f.Goodput, &f.Stalls.PerKTok, &f.Smooth.Stalled5, &f.Smooth.Stalled10, &f.Smooth.Fluidity, &f.Smooth.Jitter,
			&f.Smooth.CV, &f.Phases.Reused, &f.SLO[0].Attained, &f.SLO[0].Goal, &s.Load.Rate} {
			*p = number.Draw(t, "number")
		}
		for _, p := range []*int64{&f.Span, &f.Stalls.Total, &f.Stalls.Longest, &f.MergedSum, &s.Now, &s.Floor.LateP99, &s.Floor.LateMax, &s.Floor.SessionOvershoot, &s.Targets[0].LastErrorAt} {
			*p = length.Draw(t, "length")
		}
		for _, p := range []*uint64{&f.Requests.OK, &f.Requests.Failed, &f.Stalls.Count, &f.OutputTokens, &f.Merged, &f.Smooth.FluidityN} {
			*p = amount.Draw(t, "amount")
		}
		s.Targets[0].LastError = rapid.String().Draw(t, "error")
		s.Targets[0].Info.Model = rapid.String().Draw(t, "model")
		checkOutputs(t, s)
	})
}

func TestVerdict(t *testing.T) {
	missedErr := article()
	missedErr.Targets[0].Session.SLO = []stats.SLOResult{{Expr: "err<=1%", Metric: "err", Limit: 10000, N: 100, Met: 98}}
	missedErr.Targets[0].Session.ErrorRate = 0.02
	noData := article()
	noData.Targets[0].Session.SLO[0] = stats.SLOResult{Metric: "gap", NoData: true}
	damaged := timeouts()
	damaged.Damaged = "cut"
	oneDown := two()
	oneDown.Targets[1] = failed().Targets[0]
	gaveUp := article()
	gaveUp.Targets[0].Session.Requests = stats.Requests{}
	gaveUp.Finished = &event.Finished{Reason: "never answered"}
	spoke := failed()
	spoke.Targets[0].Session.OutputTokens = 4
	loading := failed()
	loading.Targets[0].Info.State, loading.Targets[0].Info.Detail = event.StateDone, "still loading at the end: Loading model"
	running := timeouts()
	running.Finished = nil
	cases := []struct {
		name string
		s    *stats.Snapshot
		want int
		why  string
	}{
		{"all met", article(), ExitOK, ""},
		{"missed", timeouts(), ExitMissed, "http://127.0.0.1:41234 missed ttft<=500ms:99%: 98.4% of 1,002; http://127.0.0.1:41234 missed err<=1%: 1.3% of 1,003 failed"},
		{"missed by the second", two(), ExitMissed, "https://gpu07.example.com/v1 missed ttft<=500ms:99%: 98.4% of 1,002; https://gpu07.example.com/v1 missed err<=1%: 1.3% of 1,003 failed"},
		{"error rate missed", missedErr, ExitMissed, "http://127.0.0.1:41234 missed err<=1%: 2% of 100 failed"},
		{"no data is no miss", noData, ExitOK, ""},
		{"interrupted", incomplete(), ExitOK, ""},
		{"still running", running, ExitOK, ""},
		{"damaged", damaged, ExitOK, ""},
		{"never answered", failed(), ExitFailed, "http://gpu07:8000 never answered (connect_refused 7, dns 1, http_auth 1): dial tcp 10.0.0.7:8000: connect: connection refused"},
		{"one of two never answered", oneDown, ExitFailed, "http://gpu07:8000 never answered (connect_refused 7, dns 1, http_auth 1): dial tcp 10.0.0.7:8000: connect: connection refused"},
		{"it spoke, and then failed", spoke, ExitFailed, "http://gpu07:8000 never answered in full (connect_refused 7, dns 1, http_auth 1): dial tcp 10.0.0.7:8000: connect: connection refused"},
		{"it was loading to the end", loading, ExitFailed, "http://gpu07:8000 never answered (connect_refused 7, dns 1, http_auth 1): still loading at the end: Loading model"},
		{"gave up", gaveUp, ExitFailed, "http://127.0.0.1:41234 never answered"},
		{"nothing", empty(), ExitOK, ""},
	}
	for _, c := range cases {
		if got, why := Verdict(c.s); got != c.want || why != c.why {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, got, why, c.want, c.why)
		}
	}
}

func TestRender(t *testing.T) {
	s := article()
	b, err := JSON(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for form, want := range map[string]string{"text": Text(s, Options{}), "markdown": Markdown(s, Options{}), "json": string(b), "none": ""} {
		if got, err := Render(s, form, Options{}); err != nil || got != want {
			t.Errorf("%s: %v\n%s", form, err, got)
		}
	}
	if _, err := Render(s, "xml", Options{}); err == nil {
		t.Error("xml was rendered")
	}
}

// The exported functions read the tail by the rules of stats.
func TestReadingIsTheOneOfStats(t *testing.T) {
	s := article()
	sentences := stats.Read(s.Targets[0], &s.Targets[0].Session)
	if len(sentences) == 0 {
		t.Fatal("the tail of the article reads as nothing")
	}
	b, err := JSON(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, x := range sentences {
		if !strings.Contains(flat(Text(s, Options{})), flat(clean(x.Text))) {
			t.Errorf("the text lacks %q", x.Text)
		}
		if !strings.Contains(Markdown(s, Options{}), escape(clean(x.Text))) {
			t.Errorf("the Markdown lacks %q", x.Text)
		}
		if q, _ := json.Marshal(clean(x.Rule)); !bytes.Contains(b, q) {
			t.Errorf("the JSON lacks %s", q)
		}
	}
}

// Text is 79 columns wide where nothing long and unbreakable stands in it.
func TestTextWidth(t *testing.T) {
	for _, c := range flavours() {
		for _, l := range strings.Split(text(c.s, Options{}, fixedReading), "\n") {
			if format.Width(l) > textWidth && !strings.Contains(c.name, "hostile") {
				t.Errorf("%s: %q is %d columns wide", c.name, l, format.Width(l))
			}
		}
	}
}
