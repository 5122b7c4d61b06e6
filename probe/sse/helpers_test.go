package sse

import (
	"errors"
	"io"
)

// got is an event as tests compare it: a copy, without the ordinal.
type got struct {
	Type, Data, ID string
	Flags          Flags
}

// outcome is all that a body gave.
type outcome struct {
	Events []got
	Err    string
	Format Format
	Reads  []uint64 // ordinals, for tests that care
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface{ Fatalf(string, ...any) }

// run reads a body to its end. It fails if that takes more events than the
// body has bytes, or if the error does not stay.
func run(t fataler, src io.Reader, size int, o Options) outcome {
	return drain(t, NewReader(src, o), size)
}

func drain(t fataler, r *Reader, size int) outcome {
	var out outcome
	for {
		ev, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again == nil || again.Error() != err.Error() {
				t.Fatalf("error %v was followed by %v", err, again)
			}
			out.Err, out.Format = err.Error(), r.Format()
			if errors.Is(err, io.EOF) {
				out.Err = "EOF"
			}
			return out
		}
		if len(out.Events) > size {
			t.Fatalf("more events than the %d bytes of the body", size)
		}
		out.Events = append(out.Events, got{ev.Type, string(ev.Data), string(ev.ID), ev.Flags})
		out.Reads = append(out.Reads, ev.Read)
	}
}

// cuts delivers a body in pieces, one per Read, and then err.
type cuts struct {
	pieces []string
	err    error
	early  bool // err comes with the last piece
	reads  uint64
}

func (c *cuts) Read(b []byte) (int, error) {
	c.reads++
	for len(c.pieces) > 0 && c.pieces[0] == "" {
		c.pieces = c.pieces[1:]
	}
	if len(c.pieces) == 0 {
		return 0, c.err
	}
	n := copy(b, c.pieces[0])
	c.pieces[0] = c.pieces[0][n:]
	if c.early && len(c.pieces) == 1 && c.pieces[0] == "" {
		c.pieces = nil
		return n, c.err
	}
	return n, nil
}

// whole delivers a body in one Read.
func whole(body string) io.Reader { return &cuts{pieces: []string{body}, err: io.EOF} }

// single is a body byte by byte.
func single(body string) []string {
	out := make([]string, len(body))
	for i := range len(body) {
		out[i] = body[i : i+1]
	}
	return out
}

// bytewise delivers a body byte by byte.
func bytewise(body string) io.Reader { return &cuts{pieces: single(body), err: io.EOF} }
