package ui

import (
	"strconv"
	"strings"
	"testing"

	"teapot/probe/event"
	"teapot/stats"
)

// typed presses the keys of a text.
func typed(m *model, text string) {
	for _, r := range text {
		k := string(r)
		if r == ' ' {
			k = "space"
		}
		press(m, k)
	}
}

func TestTheListOfRequests(t *testing.T) {
	s := busy()
	m := still(s, Config{Theme: "mono"})
	list := func() string { return stripSGR(screenOf(m, 100, 24, requests)) }
	chosen := func() string {
		for _, l := range strings.Split(list(), "\n") {
			if rest, ok := strings.CutPrefix(l, "›#"); ok {
				return strings.Fields(rest)[0]
			}
		}
		return ""
	}
	recent := s.Targets[0].Recent
	press(m, "4")
	// Requests end in another order than they were sent.
	newest := chosen()
	press(m, "down")
	if chosen() == newest {
		t.Error("down stays")
	}
	press(m, "k")
	if chosen() != newest || m.list.chosen != 0 {
		t.Error("up does not lead back to the top")
	}
	press(m, "G")
	if last := list(); !strings.Contains(last, "›#"+strconv.FormatUint(firstSent(recent), 10)) {
		t.Errorf("G does not lead to the end:\n%s", last)
	}
	press(m, "g", "pgdown")
	if got := m.list.at(m.list.listed(m.shown())); got != m.list.rows-1 {
		t.Errorf("a page is %d rows of %d", got, m.list.rows)
	}
	press(m, "pgup", "s")
	if !strings.Contains(list(), "longest gap first") {
		t.Error("s does not sort")
	}
	rows := m.list.listed(m.shown())
	for i := 1; i < len(rows); i++ {
		if rows[i].MaxGap > rows[i-1].MaxGap {
			t.Fatalf("row %d has a longer gap than the one above", i)
		}
	}
	for range orders() {
		press(m, "s")
		list()
	}
	press(m, "enter")
	if m.open != rows[0].ID {
		t.Errorf("enter opens %d, not %d", m.open, rows[0].ID)
	}
	press(m, "esc")
	if m.open != 0 || m.view != requests {
		t.Error("esc does not lead back to the list")
	}
}

func firstSent(rs []stats.Request) (id uint64) {
	at := int64(1) << 62
	for _, r := range rs {
		if r.Sent < at {
			at, id = r.Sent, r.ID
		}
	}
	return id
}

func TestAFilterIsTyped(t *testing.T) {
	m := still(busy(), Config{Theme: "mono"})
	m.do = func(c event.Control) { t.Errorf("typing does %+v", c) }
	list := func() string { return stripSGR(screenOf(m, 120, 24, m.view)) }
	list()
	press(m, "/")
	if m.view != requests || !m.list.typing {
		t.Fatal("/ does not open the line")
	}
	typed(m, "gap>500 qmp[")
	if m.list.draft != "gap>500 qmp[" || m.outcome.Quit {
		t.Fatalf("typed %q", m.list.draft)
	}
	press(m, "enter")
	if out := list(); !m.list.typing || !strings.Contains(out, `✗ "qmp[" is no term such as gap>200`) {
		t.Errorf("a bad filter is taken:\n%s", out)
	}
	press(m, "backspace", "backspace", "backspace", "backspace", "backspace", "enter")
	out := list()
	if m.list.typing || m.list.text != "gap>500" || !strings.Contains(out, " of 142") || !strings.Contains(out, "filter gap>500") {
		t.Errorf("the filter %q shows\n%s", m.list.text, out)
	}
	for _, r := range m.list.listed(m.shown()) {
		if r.MaxGap <= 500e6 {
			t.Errorf("#%d with a gap of %d is let through", r.ID, r.MaxGap)
		}
	}
	press(m, "/", "esc")
	if m.list.text != "gap>500" {
		t.Error("esc while typing drops the filter in use")
	}
	press(m, "esc")
	if m.list.text != "" || m.list.filter != nil {
		t.Error("esc does not end the filter")
	}
	press(m, "/")
	typed(m, "status:none")
	press(m, "enter", "esc", "/")
	typed(m, "class:nothing")
	press(m, "enter")
	if out := list(); !strings.Contains(out, "none that the filter lets through") {
		t.Errorf("an empty list:\n%s", out)
	}
	press(m, "down", "enter")
	if m.open != 0 {
		t.Error("enter on nothing opens something")
	}
}

func TestOneRequest(t *testing.T) {
	w := newWorld(3, 4)
	w.run(100e9)
	s := w.snapshot()
	tg := s.Targets[0]
	m := still(s, Config{Theme: "mono"})
	show := func(id uint64, w, h int) string {
		m.openRequest(id)
		return stripSGR(screenOf(m, w, h, requests))
	}
	done := tg.Recent[len(tg.Recent)-1]
	for i := range tg.Recent {
		if r := &tg.Recent[i]; r.Stalls > 0 && r.ID > done.ID-30 && r.TCP > 0 {
			done = *r
		}
	}
	out := show(done.ID, 120, 40)
	for _, want := range []string{
		"request #" + strconv.FormatUint(done.ID, 10) + ", ok", "wait ", "1st ", "tokens ", "send ", "gap ms by token event (log)", "its longest gaps", "before event",
		strconv.Itoa(done.N) + " tok of 256", "prompt 512",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	press(m, "l")
	if out := stripSGR(screenOf(m, 120, 40, requests)); !strings.Contains(out, "token event (linear)") {
		t.Error("the scale of the gaps does not change")
	}
	if out := show(tg.Traces.Running[0].ID, 120, 40); !strings.Contains(out, "under way") {
		t.Errorf("a request under way:\n%s", out)
	}
	if out := show(tg.Recent[0].ID, 120, 40); !strings.Contains(out, "its gaps are no longer kept") || !strings.Contains(out, "wait ") {
		t.Errorf("an old request:\n%s", out)
	}
	for i := range tg.Recent {
		if tg.Recent[i].Class.Failed() {
			if out := show(tg.Recent[i].ID, 120, 40); !strings.Contains(out, "× 200 timeout_first") && !strings.Contains(out, "× timeout_first: no token within 5 s") {
				t.Errorf("a failed request:\n%s", out)
			}
		}
	}
	if out := show(7, 120, 40); !strings.Contains(out, "no longer kept") {
		t.Errorf("a request that nobody knows:\n%s", out)
	}
}

// The phases follow each other without a hole and end with the request,
// whatever a server does.
func TestPhasesOfARequest(t *testing.T) {
	full := stats.Request{Sent: 100, DNS: 5, TCP: 10, TLS: 20, Wrote: 3, Headers: 200, First: 260, Last: 900, End: 910}
	for name, c := range map[string]struct {
		edit    func(*stats.Request)
		running bool
		want    string
	}{
		"all":           {func(*stats.Request) {}, false, "dns 5 tcp 10 tls 20 send 3 wait 97 1st 60 tokens 640 end 10"},
		"used":          {func(r *stats.Request) { r.DNS, r.TCP, r.TLS, r.Wrote = 0, 0, 0, 0 }, false, "wait 100 1st 60 tokens 640 end 10"},
		"no headers":    {func(r *stats.Request) { *r = stats.Request{Sent: 100, End: 500} }, false, "wait 400"},
		"no token":      {func(r *stats.Request) { r.First, r.Last = 0, 0 }, false, "dns 5 tcp 10 tls 20 send 3 wait 97 no token 710"},
		"running":       {func(r *stats.Request) { r.End = 0 }, true, "dns 5 tcp 10 tls 20 send 3 wait 97 1st 60 tokens 640 end 100"},
		"headers after": {func(r *stats.Request) { r.Headers = 300; r.Wrote = 0; r.DNS, r.TCP, r.TLS = 0, 0, 0 }, false, "wait 200 tokens 600 end 10"},
	} {
		r := full
		c.edit(&r)
		var got []string
		ph := phasesOf(&r, 1000, c.running)
		for i, p := range ph {
			got = append(got, p.name+" "+strconv.FormatInt(p.to-p.from, 10))
			if i > 0 && p.from != ph[i-1].to && ph[i-1].to != r.Sent {
				t.Errorf("%s: a hole before %s", name, p.name)
			}
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}

// Every gap of a request is in a column, and a column is as high as its longest.
func TestEveryGapOfARequestHasItsColumn(t *testing.T) {
	cells := make([]stats.Cell, 1000)
	for i := range cells {
		cells[i].Gap = 14e6
	}
	cells[500].Gap, cells[700].Gap, cells[700].Merged = 900e6, 300e6, true
	axis := gapAxis(cells, false)
	for _, w := range []int{1, 7, 60, 999, 1000} {
		bars, ours := gapColumns(cells, w, axis, limits(&stats.Figures{}))
		tall, hollow := 0, 0
		for x := range bars {
			if bars[x].Height == axis.Pos(900e6) {
				tall++
			}
			if ours[x] == 300e6 {
				hollow++
			}
		}
		if tall != 1 || hollow != 1 {
			t.Errorf("%d columns: %d with the long gap, %d with ours", w, tall, hollow)
		}
	}
}
