package sim

import (
	"fmt"
	"strings"
	"time"
)

// Profile is a way for the engine to behave.
type Profile struct {
	Name string
	Line string // one line that says what it shows

	article bool // every stream has a clock of its own, see article.go
	pace    pace
	context int // tokens a prompt and its reply may have together
	queue   int // requests that may wait beyond the batch
	ttft    time.Duration
	forced  bool // counts in every event, asked for or not
	reason  int  // of three output tokens, how many are reasoning
	gc      bool // counts garbage collections of the young generations

	// faults happen in rotation: the first one `first` after the first request,
	// each next one `every` later, give or take a quarter.
	faults []fault
	first  time.Duration
	every  time.Duration
}

// faultKind names a fault in the truth log.
type faultKind string

const (
	faultPrefill  faultKind = "prefill"
	faultPreempt  faultKind = "preemption"
	faultGC       faultKind = "gc"
	faultBurst    faultKind = "burst"
	faultClient   faultKind = "slow-client"
	faultStall    faultKind = "stall"
	faultError    faultKind = "error"
	faultTruncate faultKind = "truncate"
	faultOverload faultKind = "overload"
	faultRestart  faultKind = "restart"
	// faultBacklog is not planned: a client does not read.
	faultBacklog faultKind = "backpressure"
)

// fault is one entry of a rotation.
type fault struct {
	kind faultKind
	min  time.Duration // how long it lasts, at least and at most, where that is chosen
	max  time.Duration
	size int           // tokens: of the tenant's prompt, or of what each tenant produces
	then time.Duration // restart: how long the model is loaded afterwards
}

// gpu is the pace most profiles share: some 70 tokens a second and stream, a
// little slower with every further stream.
func gpu() pace {
	return pace{
		base: 13500 * time.Microsecond, perSeq: 120 * time.Microsecond, perToken: 55 * time.Microsecond,
		sigma: 0.05, hiccup: 0.01, hiccupTo: 8 * time.Millisecond,
		blocks: 4096, maxSeqs: 64, budget: 2048,
	}
}

// small is the same with little memory, so that it runs out.
func small() pace {
	p := gpu()
	p.blocks = 640
	return p
}

// The faults, as the profiles and the tour use them.
func prefillFault() fault { return fault{kind: faultPrefill, size: 7000} }
func preemptFault() fault { return fault{kind: faultPreempt, size: 30} }
func gcFault() fault {
	return fault{kind: faultGC, min: 80 * time.Millisecond, max: 300 * time.Millisecond}
}
func burstFault() fault {
	return fault{kind: faultBurst, min: 90 * time.Millisecond, max: 220 * time.Millisecond}
}
func clientFault() fault {
	return fault{kind: faultClient, min: 300 * time.Millisecond, max: 700 * time.Millisecond}
}
func stallFault() fault {
	return fault{kind: faultStall, min: 400 * time.Millisecond, max: 1200 * time.Millisecond}
}

// single is a profile that shows one fault again and again.
func single(name, line string, p pace, f fault) Profile {
	return Profile{
		Name: name, Line: line, pace: p, context: 8192, queue: 256,
		faults: []fault{f}, first: 3 * time.Second, every: 5 * time.Second,
	}
}

// Profiles lists the profiles in the order in which help should show them.
func Profiles() []Profile {
	return append(steady(), faulty()...)
}

// steady are the profiles in which nothing goes wrong.
func steady() []Profile {
	smooth := gpu()
	smooth.sigma, smooth.hiccup = 0.02, 0
	lockstep := pace{base: 5 * time.Millisecond, perToken: 10 * time.Microsecond, blocks: 65536, maxSeqs: 1024, budget: 8192}
	spec := gpu()
	spec.base, spec.spec = 24*time.Millisecond, 4
	return []Profile{
		tour(),
		{Name: "smooth", Line: "an even 70 tok/s a stream, and nothing ever happens", pace: smooth, context: 32768, queue: 256},
		{Name: "article", Line: "gaps of one known law: median 1.60, P99 12.88, P99.99 120.22, mean 3.47 ms",
			article: true, pace: pace{blocks: 65536, maxSeqs: 1024}, context: 32768, ttft: 25 * time.Millisecond},
		{Name: "lockstep", Line: "every stream gets its token in the same step, every 5 ms, to the microsecond",
			pace: lockstep, context: 32768, queue: 1024},
		{Name: "spec", Line: "speculative decoding: one to four tokens an event, with the counts in every event",
			pace: spec, context: 32768, queue: 256, forced: true},
		{Name: "reasoning", Line: "a third of each reply is reasoning, then comes the answer",
			pace: smooth, context: 32768, queue: 256, reason: 1},
	}
}

func tour() Profile {
	return Profile{
		Name: "tour", Line: "a walk past every cause of a stutter, something new every 10 to 20 s",
		pace: small(), context: 8192, queue: 256, gc: true,
		first: 5 * time.Second, every: 13 * time.Second,
		faults: []fault{
			prefillFault(), gcFault(), preemptFault(), burstFault(), stallFault(),
			prefillFault(), gcFault(), {kind: faultError}, preemptFault(), burstFault(),
		},
	}
}

// faulty are the profiles that show one fault each.
func faulty() []Profile {
	whole := gpu()
	whole.budget = 0
	gc := single("gc", "the whole server stops for 80 to 300 ms to collect garbage", gpu(), gcFault())
	gc.gc = true
	overload := single("overload", "for some seconds new requests are turned away with 503 or 429", gpu(),
		fault{kind: faultOverload, min: 4 * time.Second, max: 5 * time.Second})
	overload.every = 12 * time.Second
	restart := single("restart", "the server dies, refuses connections, loads its model and comes back", gpu(),
		fault{kind: faultRestart, min: 1500 * time.Millisecond, max: 2500 * time.Millisecond, then: 2 * time.Second})
	restart.every = 15 * time.Second
	return []Profile{
		single("prefill", "a neighbour's long prompt is computed in chunks between everybody's tokens", gpu(), prefillFault()),
		single("prefill-whole", "the same prompt in one piece: one long gap for everybody", whole, prefillFault()),
		single("preemption", "KV blocks run out, the youngest request is put back and computed again", small(), preemptFault()),
		gc,
		single("burst", "the network holds everything back, then delivers several events at once", gpu(), burstFault()),
		single("slow-client", "one client takes nothing for a while, then all that was kept for it at once", gpu(), clientFault()),
		single("stall", "one stream alone stands still for about a second", gpu(), stallFault()),
		single("error", "now and then a reply ends in an error event", gpu(), fault{kind: faultError}),
		single("truncate", "now and then a reply is cut off without an end", gpu(), fault{kind: faultTruncate}),
		overload,
		restart,
	}
}

// with is the profile with other faults, or faults at another pace.
func (p Profile) with(kinds []string, every time.Duration) (Profile, error) {
	if len(kinds) > 0 {
		p.faults = nil
		for _, k := range kinds {
			f, ok := faultNamed(k)
			if !ok {
				return p, fmt.Errorf("%w: there is no fault %q", ErrProfile, k)
			}
			p.faults = append(p.faults, f)
		}
		if p.first == 0 {
			p.first, p.every = 3*time.Second, 5*time.Second
		}
	}
	if every > 0 {
		p.every = every
	}
	return p, nil
}

// faultNamed finds a fault by its kind, as the profiles have it.
func faultNamed(kind string) (fault, bool) {
	for _, p := range faulty() {
		for _, f := range p.faults {
			if string(f.kind) == kind {
				return f, true
			}
		}
	}
	return fault{}, false
}

// Check tells whether there is a profile of that name; the error, an
// ErrProfile, lists what there is.
func Check(name string) error {
	_, err := profileNamed(name)
	return err
}

// profileNamed finds a profile; the error lists what there is.
func profileNamed(name string) (Profile, error) {
	var names []string
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, fmt.Errorf("%w %q: there are %s", ErrProfile, name, strings.Join(names, ", "))
}
