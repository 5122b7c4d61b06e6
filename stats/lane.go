package stats

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"teapot/probe/event"
)

const (
	keptLane  = 1000
	keptNotes = 50
	maxLine   = 200 // bytes of a line that comes from outside

	// hostStall is an oversleep of the heartbeat, in ns, that a person should
	// see: longer than a frame at 60 per second leaves room for.
	hostStall = int64(10e6)
)

// lane is the event lane: what happened beside the tokens, on their time axis.
type lane struct {
	log[LaneEvent]
	marks int
}

func (l *lane) put(at int64, k LaneKind, target uint32, text string) {
	l.add(LaneEvent{At: at, Kind: k, Target: target, Text: oneLine(text)})
}

// mark gives each mark the next letter, and begins again after Z. One that
// amends the mark before keeps its letter, and moves it to where it is true.
func (l *lane) mark(ev *event.Mark) byte {
	if i := l.amended(ev); i >= 0 {
		e := l.items[i]
		l.items, l.seen = slices.Concat(l.items[:i], l.items[i+1:]), 0 // views keep the old list
		e.At, e.Text = ev.At, oneLine(ev.Label)
		l.add(e)
		return e.Letter
	}
	letter := byte('A' + l.marks%26)
	l.add(LaneEvent{At: ev.At, Kind: LaneMark, Letter: letter, Text: oneLine(ev.Label)})
	l.marks++
	return letter
}

// amended is the mark that ev takes the place of, -1 for none.
func (l *lane) amended(ev *event.Mark) int {
	if !ev.Amends {
		return -1
	}
	for i := len(l.items) - 1; i >= 0; i-- {
		if l.items[i].Kind == LaneMark {
			return i
		}
	}
	return -1
}

// state notes that a target went away or came back, and tells whether it came
// back.
func (l *lane) state(before event.State, ev *event.Target) (back bool) {
	answers := ev.State == event.StateLive || ev.State == event.StateWarmup ||
		ev.State == event.StateLoading || ev.State == event.StateBusy || ev.State == event.StateLimited
	switch {
	case ev.State == event.StateDown && before != event.StateDown:
		l.put(ev.At, LaneDown, ev.ID, ev.Detail)
	case before == event.StateDown && answers:
		l.put(ev.At, LaneRestart, ev.ID, string(ev.State))
		return true
	}
	return false
}

// failure is the one line that names a failed request: its status, then what
// the server or the network said.
func failure(c event.Class, status int, message string) string {
	var parts []string
	if status != 0 && (status < 200 || status > 299) {
		parts = append(parts, strconv.Itoa(status))
		message = strings.TrimPrefix(message, parts[0]+" ") // some say it themselves
	}
	if message = oneLine(message); message == "" {
		message = strings.ReplaceAll(string(c), "_", " ")
	}
	return oneLine(strings.Join(append(parts, message), " "))
}

// oneLine makes a short single line of printable text out of anything.
func oneLine(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine]
		for !utf8.ValidString(s) && len(s) > maxLine-utf8.UTFMax {
			s = s[:len(s)-1]
		}
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			return -1 // control, format (bidi) and broken characters
		}
		return r
	}, s)), " ")
}

// setting takes a change of the load. A length is that of the run only once a
// request was sent with it.
func (a *Aggregator) setting(ev *event.Setting) {
	if ev.Name != event.DoMaxTokens && ev.Name != event.DoPromptTokens {
		setting(&a.load, ev)
		return
	}
	a.wanted = slices.DeleteFunc(a.wanted, func(w event.Setting) bool { return w.Name == ev.Name })
	a.wanted = append(a.wanted, *ev)
}

// sentWith brings the load up to date with the lengths of a request.
func (a *Aggregator) sentWith(ev *event.Start) {
	for i := range a.wanted {
		w := &a.wanted[i]
		if w.Name == event.DoMaxTokens && strconv.Itoa(ev.Asked) == w.To || w.Name == event.DoPromptTokens && strconv.Itoa(ev.Prompt) == w.To {
			setting(&a.load, w)
			a.wanted = slices.Delete(slices.Clone(a.wanted), i, i+1)
			a.sentWith(ev)
			return
		}
	}
}

// setting brings a load up to date with a change that took effect. A value that
// makes no sense is let be.
func setting(l *event.Load, ev *event.Setting) {
	v, err := strconv.ParseFloat(strings.TrimSpace(ev.To), 64)
	if err != nil || !(v >= 0 && v <= 1e9) {
		return
	}
	switch ev.Name {
	case event.DoRate:
		l.Rate = v
	case event.DoConcurrency:
		l.Concurrency = int(v)
	case event.DoMaxTokens:
		l.MaxTokens = int(v)
	case event.DoPromptTokens:
		l.PromptTokens = int(v)
	}
}
