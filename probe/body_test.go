package probe

import (
	"io"
	"strings"
	"testing"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
	"teapot/probe/sse"
	"teapot/probe/stamp"
)

// parts is a body that comes in the given reads, each after a wait that is
// long enough to be seen.
type parts struct{ left []string }

func (p *parts) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	time.Sleep(3 * time.Millisecond)
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

// seen is one token as it came out of a body, in short.
type seen struct {
	Burst  uint32
	Merged bool
	Text   string
	Read   int // which distinct stamp, from 1
}

// through sends reads through a body, with a heartbeat that overslept or not.
func through(t *testing.T, overslept bool, red *redactor, reads ...string) (tokens []seen) {
	t.Helper()
	beat := int64(0)
	hb := stamp.NewHeartbeat(func() int64 { return beat }, time.Sleep)
	if overslept {
		beat = int64(time.Hour) // and no beat since
	}
	b := body{clk: stamp.NewClock(), hb: hb, red: red, target: 2, slot: 3}
	stamps := map[int64]int{}
	b.sink = func(ts []event.Token, texts []event.Text, r stamp.Read, merged int) {
		for i, tok := range ts {
			if _, ok := stamps[tok.At]; !ok {
				stamps[tok.At] = len(stamps) + 1
			}
			if tok.At != r.At || tok.Target != 2 || tok.Slot != 3 || tok.Request != 9 || texts[i].Request != 9 || texts[i].At != tok.At {
				t.Errorf("token %+v with %+v of a read at %d", tok, texts[i], r.At)
			}
			if int(tok.Bytes) != len(texts[i].Text) || (merged == len(ts)) != tok.Merged {
				t.Errorf("token %+v of %q, %d merged", tok, texts[i].Text, merged)
			}
			tokens = append(tokens, seen{tok.Burst, tok.Merged, strings.Clone(texts[i].Text), stamps[tok.At]})
		}
	}
	b.begin(&parts{reads}, nil, 9, 0)
	dialect, err := api.ByName("chat")
	if err != nil {
		t.Fatal(err)
	}
	dec := dialect.NewDecoder()
	r := sse.NewReader(&b, sse.Options{})
	b.rest = r.Buffered
	var part api.Part
	for {
		ev, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		dec.Decode(&ev, &part)
		b.add(&ev, &part)
	}
	b.flush()
	return tokens
}

func TestBodyBursts(t *testing.T) {
	half := len(tok("b")) / 2
	for _, c := range []struct {
		name      string
		overslept bool
		reads     []string
		want      []seen
	}{
		{"one each", false, []string{role, tok("a"), tok("b")}, []seen{{0, false, "a", 1}, {0, false, "b", 2}}},
		{"a burst of the server's", false, []string{tok("a") + tok("b") + tok("c"), tok("d")},
			[]seen{{0, false, "a", 1}, {1, false, "b", 1}, {2, false, "c", 1}, {0, false, "d", 2}}},
		{"joined by us", true, []string{tok("a") + tok("b")}, []seen{{0, true, "a", 1}, {1, true, "b", 1}}},
		{"an event over two reads belongs to the second", false, []string{tok("a") + tok("b")[:half], tok("b")[half:]},
			[]seen{{0, false, "a", 1}, {0, false, "b", 2}}},
		{"begun behind, by us", true, []string{tok("a") + tok("b")[:half]}, []seen{{0, true, "a", 1}}},
		{"no tokens between", false, []string{tok("a"), comment + role, usage(1) + tok("b")},
			[]seen{{0, false, "a", 1}, {0, false, "b", 2}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			same(t, "tokens", c.want, through(t, c.overslept, &redactor{}, c.reads...))
		})
	}
}

func TestBodyHidesSecrets(t *testing.T) {
	red := newRedactor(nil, "sk-canary", nil)
	got := through(t, false, red, tok("say sk-canary")+tok(" twice"))
	same(t, "tokens", []seen{{0, false, "say [redacted]", 1}, {1, false, " twice", 1}}, got)
}
