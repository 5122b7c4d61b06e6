package options

import (
	"errors"
	"fmt"
	"testing"
)

// What went wrong in several places is told apart, and nothing is told twice.
func TestLineOfJoinedErrors(t *testing.T) {
	full := errors.New("write f: no space left on device")
	one, two := fmt.Errorf("write the report: %w", full), errors.New("read\x1b[2J g")
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"two", errors.Join(one, two), "write the report: write f: no space left on device; read g"},
		{"the same again, bare", errors.Join(one, full), "write the report: write f: no space left on device"},
		{"joined twice", errors.Join(errors.Join(full, two), two), "write f: no space left on device; read g"},
		{"a sentence about two", fmt.Errorf("%w, and then %w", two, full), "read g, and then write f: no space left on device"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Line(c.err); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
