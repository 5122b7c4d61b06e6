package sim

import (
	"encoding/json"
	"math/rand/v2"
	"time"
)

// timeline says when the faults of a profile are due. It starts with the first
// request. A fault that finds no request it could strike waits for one.
type timeline struct {
	faults []fault
	first  time.Duration
	every  time.Duration
	rng    *rand.Rand
	next   int64
	i      int
	on     bool
}

func newTimeline(p Profile, seed uint64) *timeline {
	return &timeline{faults: p.faults, first: p.first, every: p.every, rng: rand.New(rand.NewPCG(seed, 0xfa017))}
}

func (t *timeline) start(now int64) {
	if !t.on {
		t.on = true
		t.next = now + int64(t.first)
	}
}

// due returns the fault whose time has come, or nil. The caller says with
// struck that it could be applied.
func (t *timeline) due(now int64) *fault {
	if !t.on || len(t.faults) == 0 || now < t.next {
		return nil
	}
	return &t.faults[t.i%len(t.faults)]
}

// struck moves on to the next fault.
func (t *timeline) struck(now int64) {
	t.i++
	wait := float64(t.every) * (0.75 + 0.5*t.rng.Float64())
	t.next = now + int64(wait)
}

// length chooses how long a fault lasts.
func (t *timeline) length(f *fault) time.Duration {
	return f.min + time.Duration(t.rng.Float64()*float64(f.max-f.min))
}

// trouble is a fault that goes on.
type trouble struct {
	kind    faultKind
	cause   string
	start   int64
	end     int64
	reqs    []string
	seq     *seq    // the tenant that causes it
	victim  *stream // the stream that waits for its end
	overdue bool    // cut short by the end of the run
}

// fault notes a finished trouble.
func (t *truth) fault(x *trouble) {
	if t == nil {
		return
	}
	if x.reqs == nil {
		x.reqs = []string{}
	}
	b, err := json.Marshal(struct {
		Fault faultKind `json:"fault"`
		Cause string    `json:"cause"`
		Start int64     `json:"start"`
		End   int64     `json:"end"`
		Reqs  []string  `json:"reqs"`
		Cut   bool      `json:"cut,omitempty"`
	}{x.kind, x.cause, x.start, x.end, x.reqs, x.overdue})
	if err == nil {
		t.line(b)
	}
}

// request notes the arrival of a request.
func (t *truth) request(s *stream) {
	if t == nil {
		return
	}
	b, err := json.Marshal(struct {
		Req      string `json:"req"`
		Received int64  `json:"received"`
		Prompt   int    `json:"prompt"`
		Asked    int    `json:"asked"`
		Stream   bool   `json:"stream"`
	}{s.id, s.received, s.q.prompt, s.q.max, s.q.stream})
	if err == nil {
		t.line(b)
	}
}

// end notes the end of a request: at which time, after how many tokens, and
// whether by "length", "stop", "abort", "error", "truncate", "restart" or
// "refused".
func (t *truth) end(id string, at int64, n int, why string) {
	if t == nil {
		return
	}
	b, err := json.Marshal(struct {
		Req string `json:"req"`
		End int64  `json:"end"`
		N   int    `json:"n"`
		Why string `json:"why"`
	}{id, at, n, why})
	if err == nil {
		t.line(b)
	}
}
