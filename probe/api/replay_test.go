package api

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/reel"
	"teapot/probe/sse"
)

// token is a Part with its time.
type token struct {
	at   time.Duration
	read uint64
	k    uint32
	ch   event.Channel
	text string
}

// seen is what a decoder made of a reply.
type seen struct {
	tokens   []token
	comments int
	marked   bool          // [DONE] came
	role     time.Duration // first event that is no token
	end      error
	res      Result
	sum      uint64 // of the known k
	allKnown bool
}

// play runs a body through the reader and a decoder.
func play(body io.Reader, hint sse.Format, stamp func(read uint64) time.Duration, dialect string, asked func(n int) int) seen {
	d, err := ByName(dialect)
	if err != nil {
		panic(err)
	}
	dec := d.NewDecoder()
	s := seen{role: -1, allKnown: true}
	r := sse.NewReader(body, sse.Options{Hint: hint})
	var p Part
	for {
		ev, err := r.Next()
		if err != nil {
			s.end = err
			break
		}
		dec.Decode(&ev, &p)
		at := stamp(ev.Read)
		s.marked = s.marked || strings.Contains(string(ev.Data), "[DONE]")
		switch {
		case ev.Type == "comment":
			s.comments++
		case p.Evidence:
			s.tokens = append(s.tokens, token{at, ev.Read, p.K, p.Channel, string(p.Text)})
			s.sum += uint64(p.K)
			s.allKnown = s.allKnown && p.K > 0
		case s.role < 0:
			s.role = at
		}
	}
	dec.Framed(r.Format())
	n := dec.Result(0, s.end).N
	s.res = dec.Result(asked(n), s.end)
	return s
}

// asItWas asks for as many tokens as came, which is what the cases assume.
func asItWas(n int) int { return n }

func replay(s script, size int, dialect string) seen {
	w := &wire{script: s, size: size}
	w.writes = append([]write(nil), s.writes...)
	return play(w, s.hint, func(read uint64) time.Duration {
		if read < 1 || read > uint64(len(w.stamp)) {
			return -1
		}
		return w.stamp[read-1]
	}, dialect, asItWas)
}

func (s *seen) first(ok func(event.Channel) bool) time.Duration {
	for _, t := range s.tokens {
		if ok(t.ch) {
			return t.at
		}
	}
	return -1
}

func anyChannel(event.Channel) bool { return true }

// check holds a replay against one expectation.
func (s *seen) check(t *testing.T, key, want string, checked map[string]bool) {
	t.Helper()
	checked[key] = true
	n := len(s.tokens)
	var got string
	switch key {
	case "outcome":
		got = map[event.Class]string{event.OKFull: "ok_full", event.OKShort: "ok_short", event.OKUnknownReason: "ok_unknown_reason",
			event.ErrStream: "error_stream", event.ErrTruncated: "truncated"}[s.res.Class]
		if want == "ok" && s.res.Class.OK() {
			return
		}
	case "tokens":
		got = strconv.Itoa(s.res.N)
		if s.res.Count == event.CountEvents {
			got = "unknown"
		}
	case "tokens_seen":
		got = strconv.Itoa(s.res.N)
	case "token_events":
		got = strconv.Itoa(n)
	case "silent_tokens":
		got = strconv.Itoa(s.res.N - n)
	case "tokens_per_chunk":
		got = strconv.FormatFloat(float64(s.res.N)/float64(n), 'f', 1, 64)
	case "k":
		var ks []string
		for _, tok := range s.tokens {
			ks = append(ks, fmt.Sprint(tok.k))
		}
		got = strings.Join(ks, ",")
	case "ttft":
		got = s.first(anyChannel).String()
	case "first_text":
		got = s.first(func(c event.Channel) bool { return c == event.Answer }).String()
	case "first_reasoning":
		got = s.first(func(c event.Channel) bool { return c == event.Reasoning }).String()
	case "role":
		got = s.role.String()
	case "tpot":
		n1 := max(int(s.tokens[0].k), 1)
		got = ((s.tokens[n-1].at - s.tokens[0].at) / time.Duration(s.res.N-n1)).String()
	case "max_chunk_gap":
		var worst time.Duration
		for i := 1; i < n; i++ {
			worst = max(worst, s.tokens[i].at-s.tokens[i-1].at)
		}
		got = worst.String()
	case "code":
		got = strconv.Itoa(s.res.Code)
	case "class":
		got = map[bool]string{true: "overloaded"}[s.res.Overload]
	case "comments":
		got = strconv.Itoa(s.comments)
	case "burst":
		got = strconv.FormatBool(n > 1 && s.tokens[0].read == s.tokens[1].read)
	case "missing_terminator":
		got = strconv.FormatBool(hasFlag(s.res.Flags, event.FlagNoTerminator))
	case "err":
		got = map[bool]string{true: "unexpected_eof"}[errors.Is(s.end, io.ErrUnexpectedEOF) && strings.Contains(s.res.Message, "unexpected EOF")]
	case "accepted_ratio":
		if s.res.Server != nil {
			got = fmt.Sprint(float64(s.res.Server.Accepted) / float64(s.res.Server.Drafted))
		}
	case "server_queue_ms", "server_prefill_ms", "server_tpot_ms", "server_load_ms":
		if at := s.res.Server; at != nil {
			ns := map[string]int64{"server_queue_ms": at.Queue, "server_prefill_ms": at.Prompt, "server_tpot_ms": at.PerToken, "server_load_ms": at.Load}[key]
			got = strconv.FormatFloat(float64(ns)/1e6, 'f', -1, 64)
		}
	case "visible_tokens": // without what was thought, of which nothing was shown
		got = strconv.Itoa(s.res.N - s.res.Reasoning)
	case "own_preemptions", "spike_cause": // the server's own proof of it
		n := 0
		if s.res.Server != nil {
			n = s.res.Server.Retracted
		}
		if got = strconv.Itoa(n); key == "spike_cause" {
			got = map[bool]string{true: "retraction"}[n > 0]
		}
	case "text": // each text that is new, the blanks between words made visible
		var texts []string
		for _, tok := range s.tokens {
			texts = append(texts, strings.Fields(tok.text)...)
		}
		got = strings.Join(texts, "·")
	case "end": // nothing but the end of the body follows the last event
		got = map[bool]string{true: want}[s.end == io.EOF && !s.marked]
	case "progress_events":
		// Events that only report progress come before the first token, and
		// none of them is a token.
		got = want
		if s.role != 0 || s.first(anyChannel) == 0 {
			got = "a token"
		}
	default:
		t.Errorf("the expectation %s is not checked", key)
	}
	if got != want {
		t.Errorf("%s is %s, want %s", key, got, want)
	}
}

func hasFlag(flags []event.Flag, f event.Flag) bool {
	for _, have := range flags {
		if have == f {
			return true
		}
	}
	return false
}

// dialectOf tells which dialect a case or a transcript is in, by its name.
func dialectOf(path string) string { return reel.Dialect(path) }

func TestCases(t *testing.T) {
	paths, _ := filepath.Glob("testdata/cases/*.fix")
	if len(paths) < 45 {
		t.Fatalf("only %d cases found", len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".fix"), func(t *testing.T) {
			sc := readCase(t, path)
			whole := replay(sc, 0, dialectOf(path))
			checked := map[string]bool{}
			for key, want := range sc.expect {
				whole.check(t, key, want, checked)
			}
			if !checked["outcome"] {
				t.Fatal("no outcome is expected")
			}
			for _, size := range []int{1, 7} {
				cut := replay(sc, size, dialectOf(path))
				if d := differSeen(whole, cut); d != "" {
					t.Errorf("reads of %d bytes give another result: %s", size, d)
				}
			}
			if d := differSeen(timeless(whole), timeless(replay(inOneWrite(sc), 0, dialectOf(path)))); d != "" {
				t.Errorf("all in one write gives another result: %s", d)
			}
		})
	}
}

// inOneWrite is the same reply in one piece.
func inOneWrite(s script) script {
	one := s
	one.writes = []write{{}}
	for _, w := range s.writes {
		one.writes[0].data = append(one.writes[0].data, w.data...)
	}
	return one
}

// timeless forgets when the tokens came.
func timeless(s seen) seen {
	s.tokens = slices.Clone(s.tokens)
	for i := range s.tokens {
		s.tokens[i].at = 0
	}
	return s
}

// differSeen compares two replays in all but the reads.
func differSeen(a, b seen) string {
	if len(a.tokens) != len(b.tokens) {
		return fmt.Sprintf("%d token events, %d", len(a.tokens), len(b.tokens))
	}
	for i := range a.tokens {
		x, y := a.tokens[i], b.tokens[i]
		x.read, y.read = 0, 0
		if x != y {
			return fmt.Sprintf("token %d: %+v, %+v", i, x, y)
		}
	}
	x, y := a.res, b.res
	if x.Class != y.Class || x.Message != y.Message || x.N != y.N || x.Count != y.Count || x.Finish != y.Finish || fmt.Sprint(x.Flags) != fmt.Sprint(y.Flags) || a.comments != b.comments {
		return fmt.Sprintf("%+v, %+v", x, y)
	}
	return ""
}
