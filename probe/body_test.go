package probe

import (
	"io"
	"strings"
	"sync/atomic"
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
// rest is the text that was held back to the end, and size what the tokens say
// of their lengths.
func through(t *testing.T, overslept bool, red *redactor, reads ...string) (tokens []seen, rest string, size int) {
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
			if len(red.secrets) == 0 && int(tok.Bytes) != len(texts[i].Text) || (merged == len(ts)) != tok.Merged {
				t.Errorf("token %+v of %q, %d merged", tok, texts[i].Text, merged)
			}
			tokens = append(tokens, seen{tok.Burst, tok.Merged, strings.Clone(texts[i].Text), stamps[tok.At]})
			size += int(tok.Bytes)
		}
	}
	b.begin(&parts{reads}, nil, 9, 0, new(atomic.Int64))
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
	b.end(func(text *event.Text) {
		if text.Request != 9 || text.At != b.last {
			t.Errorf("the rest came as %+v", text)
		}
		rest += text.Text
	})
	return tokens, rest, size
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
			got, rest, _ := through(t, c.overslept, &redactor{}, c.reads...)
			same(t, "tokens", c.want, got)
			same(t, "rest", "", rest)
		})
	}
}

func TestBodyHidesSecrets(t *testing.T) {
	red := newRedactor(nil, `sk-"canary`, nil)
	for _, c := range []struct {
		name  string
		texts []string
		want  []string
		rest  string
	}{
		{"whole", []string{`say sk-"canary`, " twice"}, []string{"say [redacted]", " twice"}, ""},
		{"twice in one", []string{`sk-"canarysk-"canary`}, []string{"[redacted][redacted]"}, ""},
		{"in two", []string{`say sk-"ca`, "nary twice"}, []string{"say ", "[redacted] twice"}, ""},
		{"by characters", strings.Split(`a sk-"canary b`, ""), []string{"a", " ", "s", "k", "-", "", "", "", "", "", "", "[redacted]", " ", "b"}, ""},
		{"another word", []string{`sk-"ca`, "ndy", " bar"}, []string{"", `sk-"candy`, " bar"}, ""},
		{"a short beginning", []string{"task", "-", "s"}, []string{"task", "-", "s"}, ""},
		{"cut by the end", []string{"say ", `sk-"ca`, "nar"}, []string{"say ", "", ""}, "[redacted]"},
		{"begun again", []string{`sk-"cask-"`, `canary`}, []string{`sk-"ca`, "[redacted]"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			reads, want := []string{role}, 0
			for _, text := range c.texts {
				reads, want = append(reads, tok(text)), want+len(text)
			}
			got, rest, size := through(t, false, red, reads...)
			var texts []string
			for _, s := range got {
				texts = append(texts, s.Text)
			}
			same(t, "texts", c.want, texts)
			same(t, "rest", c.rest, rest)
			same(t, "bytes", want, size)
		})
	}
}

// A secret may be a word that the protocol itself uses.
func TestBodyReadsOnWithSecretsThatAreWords(t *testing.T) {
	for _, secret := range []string{"content", "delta", "choices", "length", "null", "true", "1700", "data"} {
		red := newRedactor(nil, secret, nil)
		event := `data: {"created":1700000000,"ok":true,"x":null,"choices":[{"index":0,"delta":{"content":"a b"},"finish_reason":"length"}]}` + "\n\n"
		got, rest, _ := through(t, false, red, event)
		if len(got) != 1 || got[0].Text+rest != "a b" {
			t.Errorf("with the secret %q: %+v and %q", secret, got, rest)
		}
	}
}

func TestBodyHidesWithoutGarbage(t *testing.T) {
	b := body{clk: stamp.NewClock(), hb: stamp.NewHeartbeat(func() int64 { return 0 }, time.Sleep), red: newRedactor(nil, "sk-canary", nil)}
	b.rest = func() int { return 0 }
	b.sink = func([]event.Token, []event.Text, stamp.Read, int) {}
	b.begin(strings.NewReader(""), nil, 1, 0, new(atomic.Int64))
	ev := sse.Event{Data: []byte(`{"choices":[{"index":0,"delta":{"content":"ask\n a sk"}}]}`)}
	part := api.Part{Evidence: true, Text: []byte("ask\n a sk")}
	held := api.Part{Evidence: true, Text: []byte(" sk-cana")}
	if n := testing.AllocsPerRun(1000, func() {
		b.add(&ev, &part)
		b.add(&ev, &held)
		b.flush()
	}); n != 0 {
		t.Errorf("%v allocations for two tokens, want none", n)
	}
}
