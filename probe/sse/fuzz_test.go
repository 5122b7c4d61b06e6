package sse

import (
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// No body makes the reader panic, hang, deliver more than it got, or depend on
// how the body was cut.
func FuzzReader(f *testing.F) {
	for _, c := range framing {
		if len(c.body) < 1000 {
			f.Add([]byte(c.body), 7, byte(0))
		}
	}
	for i, c := range bodies {
		if len(c.body) < 1000 {
			f.Add([]byte(c.body), i, byte(c.opt.Hint)|byte(c.opt.Force)<<4)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int, opt byte) {
		body := string(b)
		o := Options{Hint: Format(opt & 7), Force: Format(opt >> 4 & 7), Max: 200}
		if cut < 0 || cut > len(body) {
			cut = len(body) / 2
		}
		total := 0
		r := NewReader(whole(body), o)
		for {
			ev, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, ErrTooLong) {
					t.Fatal(err)
				}
				break
			}
			if total += len(ev.Data); total > len(body) {
				t.Fatalf("more data than the %d bytes of the body", len(body))
			}
			if ev.Type == "" || ev.Read != 1 {
				t.Fatalf("%+v", ev)
			}
		}
		want := run(t, whole(body), len(body)+1, o)
		out := run(t, &cuts{pieces: []string{body[:cut], body[cut:]}, err: io.EOF}, len(body)+1, o)
		want.Reads, out.Reads = nil, nil
		if d := cmp.Diff(want, out); d != "" {
			t.Fatalf("%q cut at %d:\n%s", body, cut, d)
		}
	})
}
