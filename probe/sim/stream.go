package sim

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"strconv"
)

// stream is one request from its arrival to its end. Only the decode loop
// touches it after Engine.start, save for out, which has its own lock.
type stream struct {
	id       string // safe inside a JSON string and a header
	q        *request
	prose    *prose
	begin    int // piece with which the reply begins
	limit    int // tokens it will have
	finish   string
	received int64 // ns of the engine's clock, as all times here
	admitted int64
	first    int64 // when the first token was decoded
	latest   int64
	made     int
	out      *out // nil: the reply leaves as one document
	frame    *framer
	seq      *seq  // in a batch engine
	due      int64 // of the next token, where every stream has its own clock
	started  bool
	ended    bool

	text   []byte // of tokens not yet sent, escaped
	kept   int    // how many those are
	stuck  int64  // since when the client keeps the tokens here; 0: it does not
	answer []byte // text of a reply that is no stream, escaped
	reason []byte
	ready  chan struct{} // closed when that is complete
	failed string
}

// shortest and longest reply when nothing else ends it, tokens.
const (
	shortReply = 320
	longReply  = 960
)

// newStream chooses what the reply will be: its text and its natural end
// depend on the seed and on the words of the request alone.
func newStream(id string, q *request, body []byte, seed uint64, p *prose) *stream {
	h := fnv.New64a()
	_, _ = h.Write(body) // a hash takes every write
	if q.seeded {
		seed ^= q.seed
	}
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	s := &stream{id: id, q: q, prose: p, begin: p.start(rng.Uint64()), ready: make(chan struct{})}
	natural := max(shortReply+rng.IntN(longReply-shortReply), q.min)
	s.limit, s.finish = q.max, "length"
	if !q.ignoreEOS && natural < q.max {
		s.limit, s.finish = natural, "stop"
	}
	if q.reasoning > 0 {
		q.reasoning = max(1, s.limit*q.reasoning/3)
	}
	return s
}

// emit lets the reply grow by k tokens, decoded at the time sched. The last
// one brings the end of the reply with it.
func (s *stream) emit(k int, sched int64) {
	if s.first == 0 {
		s.first = sched
	}
	s.latest = sched
	for k > 0 {
		n, in := k, inAnswer
		if s.made < s.q.reasoning { // an event is in one channel
			n, in = min(k, s.q.reasoning-s.made), inReasoning
		}
		s.part(n, in, sched)
		k -= n
	}
}

// part lets one event out, or keeps its text while the client is behind.
func (s *stream) part(k int, in channel, sched int64) {
	if s.kept > 0 && s.made == s.q.reasoning { // what was kept is of the other channel
		s.event(inReasoning, sched, "")
	}
	for range k {
		s.text = append(s.text, s.prose.at(s.begin, s.made).escaped...)
		s.made++
	}
	s.kept += k
	last := s.made == s.limit
	switch {
	case s.out == nil:
		s.collect(in, last)
	case last:
		s.event(in, sched, s.finish)
	case s.out.full():
		if s.stuck == 0 {
			s.stuck = sched
		}
	default:
		s.event(in, sched, "")
	}
}

// event sends the tokens kept so far as one event.
func (s *stream) event(in channel, sched int64, finish string) {
	f := s.frame
	f.begin()
	if s.q.chat && !s.started {
		f.role()
	}
	s.started = true
	f.tokens(s.text, s.kept, in, finish)
	if finish != "" {
		f.last()
	}
	s.out.send(f.bytes(finish != ""), wrote{req: s.id, i: s.made - s.kept, k: s.kept, sched: sched})
	s.text, s.kept = s.text[:0], 0
	if finish != "" {
		s.out.finish(endKeep)
	}
}

func (s *stream) collect(in channel, last bool) {
	if in == inReasoning {
		s.reason = append(s.reason, s.text...)
	} else {
		s.answer = append(s.answer, s.text...)
	}
	s.text, s.kept = s.text[:0], 0
	if last {
		close(s.ready)
	}
}

// fail ends the reply with an error event.
func (s *stream) fail(message string) {
	if s.out == nil {
		s.failed = message
		close(s.ready)
		return
	}
	s.frame.begin()
	s.frame.fail(message)
	s.out.send(s.frame.bytes(true), wrote{})
	s.out.finish(endKeep)
}

// cut ends the reply without an end.
func (s *stream) cut(how ending) {
	if s.out == nil {
		s.failed = "the engine is gone"
		close(s.ready)
		return
	}
	s.out.finish(how)
}

// document is the reply of a request that asked for no stream.
func (s *stream) document(model string, created int64) []byte {
	type object = map[string]any
	usage := object{"prompt_tokens": s.q.prompt, "total_tokens": s.q.prompt + s.made, "completion_tokens": s.made}
	choice := object{"index": 0, "logprobs": nil, "finish_reason": s.finish, "stop_reason": nil}
	kind := "text_completion"
	if s.q.chat {
		kind = "chat.completion"
		message := object{"role": "assistant", "content": raw(s.answer), "refusal": nil}
		if s.q.reasoning > 0 {
			message["reasoning_content"] = raw(s.reason)
			usage["completion_tokens_details"] = object{"reasoning_tokens": min(s.q.reasoning, s.made)}
		}
		choice["message"] = message
	} else {
		choice["text"] = raw(s.answer)
	}
	b, _ := json.Marshal(object{ // nothing in it can fail to marshal
		"id": replyID(s.q.chat, s.id), "object": kind, "created": created, "model": model,
		"choices": []object{choice}, "usage": usage,
	})
	return b
}

// raw makes a JSON string of text that is already escaped.
func raw(escaped []byte) json.RawMessage {
	return json.RawMessage(`"` + string(escaped) + `"`)
}

// requestID takes the client's own id when it is harmless, so that a log of
// the client and the truth log can be joined; else n makes one.
func requestID(h http.Header, n uint64) string {
	id := h.Get("X-Request-Id")
	if len(id) == 0 || len(id) > 64 {
		return strconv.FormatUint(n, 16)
	}
	for _, c := range []byte(id) {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
		if !ok {
			return strconv.FormatUint(n, 16)
		}
	}
	return id
}
