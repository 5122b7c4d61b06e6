package confusion

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Fault is one thing that went wrong on purpose, in ns of the session's clock.
type Fault struct {
	Kind       string
	Start, End int64
	Requests   []uint64 // whom it struck; empty for everybody
}

// ReadTruth reads the faults of a truth log. wall is the Unix time, in ns, of
// the session's time 0. A line of them that makes no sense is an error.
func ReadTruth(r io.Reader, wall int64) ([]Fault, error) {
	var out []Fault
	offset, known := int64(0), false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// Most lines are tokens.
		if s := lines.Text(); !strings.Contains(s, `"truth"`) && !strings.Contains(s, `"fault"`) {
			continue
		}
		var x struct {
			Truth int      `json:"truth"`
			Now   int64    `json:"now"`
			Wall  int64    `json:"wall"`
			Fault string   `json:"fault"`
			Start int64    `json:"start"`
			End   int64    `json:"end"`
			Reqs  []string `json:"reqs"`
		}
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("truth log: %w", err)
		}
		switch {
		case x.Truth > 0:
			offset, known = x.Wall-x.Now-wall, true
		case x.Fault == "":
		case !known:
			return nil, errors.New("truth log: a fault stands before its clock")
		default:
			out = append(out, Fault{Kind: x.Fault, Start: x.Start + offset, End: x.End + offset, Requests: numbers(x.Reqs)})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("truth log: %w", err)
	}
	return out, nil
}

// numbers are the requests' numbers, which their ids end in.
func numbers(ids []string) (out []uint64) {
	for _, id := range ids {
		if n, err := strconv.ParseUint(id[strings.LastIndexByte(id, '-')+1:], 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}
