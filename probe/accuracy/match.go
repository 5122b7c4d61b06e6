package accuracy

import (
	"fmt"
	"slices"
	"strings"
)

// Heard is what a client says of one stream. Times are ns of one clock, which
// need not be the log's: gaps are compared, and delays where Offset is known.
type Heard struct {
	ID     string // the request's X-Request-Id
	Sent   int64
	At     []int64 // of each token
	Late   []int64 // how long it had lain when it was taken, by the client; nil when it cannot tell
	Merged []bool  // the client says itself that the gap before is not the server's; nil: it never does
}

// Result is how well a client told what a server did.
type Result struct {
	Streams, Tokens int
	Errors          []int64 // |client's gap − server's gap| of the gaps that the client stands for, ns, ascending
	Client, Server  []int64 // those gaps, as each of the two has them, ns, ascending
	Delays          []int64 // client's time − server's write, ns, ascending; empty where clocks differ
	First           []int64 // |client's TTFT − server's|, ns, ascending
	LateError       []int64 // how far the lateness as told is from what the log shows, of reads of one event, ns, ascending
	Joined          []int64 // server's gaps between tokens that the client gave one time and stands for, ns, ascending
	Beyond          int     // those of them that no burst explains
	Behind          []int64 // how late the server wrote by its schedule, ns, ascending
	Disowned        int     // gaps that the client says are not the server's
	Together        int     // tokens with the time of the one before
	Missing         int     // tokens that the server wrote and the client did not tell of
	WorstAt         int     // which token of its stream ended the gap with the largest error

	CPU              int64   // ns of the client's process
	RSS              int64   // its largest RssAnon, bytes; 0 unknown
	Probe            *probed // nil: the client is another
	Realtime, Pinned bool    // what the server's writing thread had
}

// settle is how many gaps at the beginning of a stream are left out: they
// belong to the start of a connection and of a process, not to streaming.
const settle = 8

// What a client may take for one burst was written within a beat of its
// heartbeat, or, behind a long gap, within that share of the gap.
const (
	beat      = int64(1e6) // ns
	holdShare = 20
)

// held is the gap before the read that brought token i.
func held(at []int64, i int) int64 {
	for j := i - 1; j >= 0; j-- {
		if at[j] < at[i] {
			return at[i] - at[j]
		}
	}
	return 0
}

// compare holds what a client heard against the log. offset is what to add to
// a client's time to get the log's; it counts only if known.
func compare(l Log, heard []Heard, offset int64, known bool) (Result, error) {
	wrote := map[string]*Written{}
	for i := range l.Streams {
		s := &l.Streams[i]
		if wrote[s.ID] != nil {
			return Result{}, fmt.Errorf("two streams of the log are called %q", s.ID)
		}
		wrote[s.ID] = s
	}
	var r Result
	worst := int64(-1)
	for i := range heard {
		h := &heard[i]
		w := wrote[h.ID]
		if w == nil {
			return Result{}, fmt.Errorf("the server knows nothing of stream %q", h.ID)
		}
		if len(h.At) > len(w.Before) {
			return Result{}, fmt.Errorf("stream %q: %d tokens were written and %d heard", h.ID, len(w.Before), len(h.At))
		}
		if most, at := r.add(h, w, offset, known); most > worst {
			worst, r.WorstAt = most, at
		}
	}
	for _, list := range [][]int64{r.Errors, r.Client, r.Server, r.Delays, r.First, r.LateError, r.Joined, r.Behind} {
		slices.Sort(list)
	}
	return r, nil
}

// add takes one stream and returns its largest error and the token that ended
// that gap.
func (r *Result) add(h *Heard, w *Written, offset int64, known bool) (worst int64, at int) {
	r.Behind = append(r.Behind, w.Behind...)
	r.Streams++
	r.Tokens += len(h.At)
	r.Missing += len(w.Before) - len(h.At)
	if len(h.At) > 0 {
		r.First = append(r.First, abs((h.At[0]-h.Sent)-(w.Before[0]-w.Heard)))
	}
	for i := settle; i < len(h.At); i++ {
		together := h.At[i] == h.At[i-1]
		if together {
			r.Together++
		}
		if known {
			r.Delays = append(r.Delays, h.At[i]+offset-w.Before[i])
		}
		if h.Merged != nil && h.Merged[i] {
			r.Disowned++
			continue
		}
		ours, theirs := h.At[i]-h.At[i-1], w.Before[i]-w.Before[i-1]
		r.Client, r.Server = append(r.Client, ours), append(r.Server, theirs)
		r.Errors = append(r.Errors, abs(ours-theirs))
		if e := abs(ours - theirs); e > worst {
			worst, at = e, i
		}
		if together {
			r.Joined = append(r.Joined, theirs)
			if theirs > max(beat, held(h.At, i)/holdShare) {
				r.Beyond++
			}
		}
		alone := !together && (i+1 == len(h.At) || h.At[i+1] != h.At[i])
		if known && h.Late != nil && alone {
			// Its read was at At+Late, and what came late did so from the moment
			// At. The log knows it to lie within the write.
			at := h.At[i] + offset
			r.LateError = append(r.LateError, max(w.Before[i]-at, at-w.After[i], 0))
		}
	}
	return worst, at
}

func abs(v int64) int64 { return max(v, -v) }

// rank is the value that a share p of the ascending values do not exceed, by
// nearest rank; 0 of none.
func rank(v []int64, p float64) int64 {
	if len(v) == 0 {
		return 0
	}
	i := int(p*float64(len(v))+0.999999) - 1
	return v[min(max(i, 0), len(v)-1)]
}

// number finds the last number in a request's name: the probe's own ids.
func number(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }
