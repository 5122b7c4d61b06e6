package ui

import (
	"slices"
	"strconv"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"teapot/probe/event"
)

// rates are the steps of the probe rate, requests a second. 0 is the closed
// loop: each stream sends its next request after the last one ended.
var rates = []float64{0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}

// Lengths go by doubling, between a token and a million.
const longest = 1 << 20

// most is the largest number of streams in flight.
const most = 4096

// asked is a value that was asked of the probe, and when.
type asked struct {
	value float64
	at    time.Time
}

// askedFresh is how long the probe may take to say what became of it. Until
// then a further press goes on from the value asked for.
const (
	askedFresh  = 2 * time.Second
	askedLength = time.Minute
)

// load is the load as it will be when everything that was asked for took effect.
func (m *model) load() *event.Load {
	l := m.snap.Load
	want := func(control string, have float64) float64 {
		fresh := askedFresh
		if control == event.DoMaxTokens || control == event.DoPromptTokens {
			fresh = askedLength // it is the load's once a request was sent with it
		}
		if a, ok := m.asked[control]; ok && m.cfg.Now().Sub(a.at) < fresh {
			return a.value
		}
		return have
	}
	l.Rate = want(event.DoRate, l.Rate)
	l.Concurrency = int(want(event.DoConcurrency, float64(l.Concurrency)))
	l.MaxTokens = int(want(event.DoMaxTokens, float64(l.MaxTokens)))
	l.PromptTokens = int(want(event.DoPromptTokens, float64(l.PromptTokens)))
	return &l
}

// tune changes the load that the probe makes. The probe says what became of
// it: a Setting, and a mark that it makes by itself. False: k changes nothing.
func (m *model) tune(k tea.KeyPressMsg) bool {
	l := m.load()
	step := func(control, what string, from, to float64) {
		switch {
		case !m.can("tune"):
		case from == to:
			m.say(what + " stays at " + number(to))
		default:
			m.asked[control] = asked{to, m.cfg.Now()}
			m.do(event.Control{Do: control, Value: to})
			m.say(what + " " + number(from) + " → " + number(to) + ", from the next request on")
		}
	}
	switch {
	case key.Matches(k, m.keys.slower):
		step(event.DoRate, "requests/s", l.Rate, rateBelow(l.Rate))
	case key.Matches(k, m.keys.faster):
		step(event.DoRate, "requests/s", l.Rate, rateAbove(max(l.Rate, m.closedRate(l))))
	case key.Matches(k, m.keys.fewer):
		step(event.DoConcurrency, "streams in flight", float64(l.Concurrency), float64(max(l.Concurrency-1, 1)))
	case key.Matches(k, m.keys.more):
		step(event.DoConcurrency, "streams in flight", float64(l.Concurrency), float64(min(l.Concurrency+1, most)))
	case key.Matches(k, m.keys.shorter):
		step(event.DoMaxTokens, "output tokens", float64(l.MaxTokens), halve(l.MaxTokens))
	case key.Matches(k, m.keys.longer):
		step(event.DoMaxTokens, "output tokens", float64(l.MaxTokens), double(l.MaxTokens))
	case key.Matches(k, m.keys.lessPrompt):
		step(event.DoPromptTokens, "prompt tokens", float64(l.PromptTokens), halve(l.PromptTokens))
	case key.Matches(k, m.keys.morePrompt):
		step(event.DoPromptTokens, "prompt tokens", float64(l.PromptTokens), double(l.PromptTokens))
	default:
		return false
	}
	return true
}

func number(v float64) string {
	return strconv.FormatFloat(v, 'g', 7, 64)
}

func halve(n int) float64 { return float64(max(n/2, 1)) }

func double(n int) float64 { return float64(min(max(n, 1)*2, longest)) }

// closedRate is what a closed loop comes to, requests a second: more than that is
// more than now. 0 in an open loop.
func (m *model) closedRate(l *event.Load) float64 {
	if l.Rate > 0 {
		return 0
	}
	return min(m.shown().Windows[m.window].RequestRate, rates[len(rates)-2])
}

// rateAbove is the next step above a rate, which need not be one itself.
func rateAbove(r float64) float64 {
	i := slices.IndexFunc(rates, func(s float64) bool { return s > r })
	if i < 0 {
		return r
	}
	return rates[i]
}

// rateBelow is the next step below a rate; below the least is the closed loop.
func rateBelow(r float64) float64 {
	below := 0.0
	for _, s := range rates {
		if s < r {
			below = s
		}
	}
	return below
}
