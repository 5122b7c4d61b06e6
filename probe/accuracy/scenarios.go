package accuracy

import (
	"fmt"
	"time"
)

// scenario is a load by a transport that the clients take in turn.
type scenario struct {
	title string
	Transport
	load    Load
	burst   bool     // what counts is the first token
	clients []string // those that take it; nil: all
}

// Titles of the scenarios that goals are about.
const (
	title1    = "1 stream, constant 1.6 ms"
	title8    = "8 streams, constant 1.6 ms"
	titleLaw  = "64 streams, the article's law"
	titleLock = "64 streams in lock-step, a beat of 10 ms"
	titleOnce = "64 requests at once, lock-step of 10 ms"
	titleFar  = "8 streams, constant 1.6 ms, a round trip of 40 ms"
)

const (
	spread      = 200 * time.Millisecond // over which the starts of a load are spread
	meanArticle = 3470 * time.Microsecond
)

// scenarios are all of the loads. span is how long each streams.
func scenarios(span time.Duration) []scenario {
	tokens := func(beat time.Duration) int { return max(int(span/beat), 2*settle) }
	list := []scenario{
		{title: title1, Transport: HTTP, load: Load{Model: "constant", Streams: 1, Tokens: tokens(usualBeat)}},
		{title: title8, Transport: HTTP, load: Load{Model: "constant", Streams: 8, Tokens: tokens(usualBeat), Spread: spread}},
		{title: titleLaw, Transport: HTTP, load: Load{Model: "article", Streams: 64, Tokens: tokens(meanArticle), Spread: spread}},
		{title: titleLock, Transport: HTTP, load: Load{Model: "lockstep:10000", Streams: 64, Tokens: tokens(10 * time.Millisecond), Spread: spread}},
		{title: "256 streams, constant 20 ms", Transport: HTTP, load: Load{Model: "constant:20000", Streams: 256, Tokens: tokens(20 * time.Millisecond), Spread: spread}},
		{title: titleOnce, Transport: HTTP, load: Load{Model: "lockstep:10000", Streams: 64, Tokens: 40}, burst: true},
	}
	for _, tr := range []Transport{HTTPS, HTTP2, Unix} {
		list = append(list, scenario{title: title8 + ", " + string(tr), Transport: tr, load: list[1].load})
	}
	return append(list, scenario{title: titleFar, Transport: Distant, load: list[1].load,
		clients: []string{probeName, screenName, nameCKernel, nameCUser}})
}

// sweepRates are tokens a second over 64 streams.
func sweepRates() []int { return []int{20_000, 40_000, 60_000, 80_000, 100_000} }

// sweep are the loads that find the rate a client sustains on one core, which
// is not that of the server where there are two.
func sweep(span time.Duration) []scenario {
	span /= 2
	var list []scenario
	for _, rate := range sweepRates() {
		beat := time.Duration(64e6/rate) * time.Microsecond
		list = append(list, scenario{
			title: fmt.Sprintf("%d 000 tok/s", rate/1000), Transport: HTTP,
			load:    Load{Model: fmt.Sprintf("constant:%d", beat.Microseconds()), Streams: 64, Tokens: int(span / beat), Spread: spread, OneCore: true},
			clients: []string{probeName, nameCKernel, nameCUser, nameArrival, nameParsed},
		})
	}
	return list
}

// takes is about how long the clients that may take part need for the scenarios.
func takes(list []scenario, clients []client, rounds int) (all time.Duration) {
	const around = 400 * time.Millisecond // to start and end a client
	for _, s := range list {
		for _, c := range clients {
			if s.asks(c) {
				all += time.Duration(rounds) * (s.load.lasts() + around)
			}
		}
	}
	return all
}
