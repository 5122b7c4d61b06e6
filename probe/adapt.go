package probe

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"

	"teapot/probe/api"
	"teapot/probe/engine"
	"teapot/probe/event"
)

// refusal is an answer that is no success, as far as it tells how to ask
// better.
type refusal struct {
	status int
	body   []byte
	line   string // the reason
}

// adapt has the next try of a request made in a way that the refusal of this
// one asks for: without a field, or in another dialect. It is false where
// there is no such way. What is learned is remembered for the run.
func (s *sender) adapt(t *attempt) bool {
	r := t.refused
	if r == nil {
		return false
	}
	if noChat(r) {
		return s.turn(t)
	}
	field, guessed := api.RejectedField(r.status, r.body), false
	if field == "" && !s.ep.stubborn.Load() && api.RejectsFields(r.status, r.body) {
		field, guessed = api.GiveUp(t.speech.dialect, t.ask), true
	}
	if field != "" && !t.ask.Drop[field] {
		t.end.Message = "the server does not take " + field + ": sent again without it"
		if guessed {
			t.end.Message = fmt.Sprintf("%s: sent again without %s, which may be the reason", r.line, field)
		}
		if s.ep.drop(field) {
			if guessed {
				s.guesses = append(s.guesses, field)
			} else {
				s.note("the server does not take " + field + ": it is left out from now on")
			}
		}
		t.end.Class = event.Aborted
		t.end.Flags = append(t.end.Flags, event.FlagFieldDropped, event.FlagSentAgain)
		return true
	}
	return noPath(r) && s.turn(t)
}

// learn settles what was dropped by guessing, when a request is over: it was
// worth it where the server then took the request.
func (s *sender) learn(t *attempt) {
	if len(s.guesses) == 0 {
		return
	}
	switch {
	case t.end.Class == event.ErrParam:
		s.ep.takeBack(s.guesses)
	case t.end.Class.OK():
		s.note(fmt.Sprintf("the server takes a request without %v: left out from now on", s.guesses))
	}
	s.guesses = s.guesses[:0]
}

// turn has a request made again in another dialect.
func (s *sender) turn(t *attempt) bool {
	to, first := s.ep.turn(t.speech)
	if to == nil {
		return false
	}
	t.end.Message = fmt.Sprintf("the server does not speak %s (%s): sent again as %s", t.speech.dialect.Name(), t.refused.line, to.dialect.Name())
	if first {
		s.note(fmt.Sprintf("%s is refused (%s): %s is tried instead", t.speech.dialect.Name(), t.refused.line, to.dialect.Name()))
	}
	t.end.Class = event.Aborted
	t.end.Flags = append(t.end.Flags, event.FlagSentAgain)
	return true
}

// note tells the operator something about the target.
func (s *sender) note(text string) {
	s.in.put(&event.Note{At: s.clk.Now(), Target: s.ep.id, Level: "info", Text: s.ep.red.line(text)})
}

var (
	reNoChat  = regexp.MustCompile(`(?i)chat.?template|(does|do) not support (the )?chat|not (a )?chat model|chat completions?( api)? (is |are )?not (supported|enabled|available)|only supported in v1/(responses|completions)`)
	reOfModel = regexp.MustCompile(`(?i)\bmodels?\b`)
)

// noChat tells whether a refusal says that this model cannot be chatted with,
// or not by this path.
func noChat(r *refusal) bool {
	switch r.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusNotImplemented, http.StatusInternalServerError:
		return reNoChat.MatchString(r.line)
	}
	return false
}

// noPath tells whether a refusal means that nothing is served under the path. A
// model that is not there is on no other path either.
func noPath(r *refusal) bool {
	switch r.status {
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return true
	case http.StatusNotFound:
		return !reOfModel.MatchString(r.line)
	}
	return false
}

// turn changes the dialect after a refusal of from, where the user has left the
// choice. It returns the way to speak from now on, and whether it is this call
// that changed it; nil where every dialect that could be meant was refused, and
// then the one that detection chose stays.
func (ep *endpoint) turn(from *speech) (to *speech, first bool) {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	now := ep.speech.Load()
	if now.dialect.Name() != from.dialect.Name() {
		return now, false // another stream has found out
	}
	if ep.insists() {
		return nil, false
	}
	if ep.tried == nil {
		ep.tried = map[string]bool{}
	}
	ep.tried[from.dialect.Name()] = true
	for _, name := range [...]string{"chat", "completions", "responses", nativeOf(now.det.Engine), now.det.API} {
		if name == "" || ep.tried[name] || name == "responses" && now.det.Engine != engine.OpenAI {
			continue
		}
		if sp, err := ep.speak(now.det, name); err == nil {
			ep.speech.Store(sp)
			return sp, true
		}
	}
	if sp, err := ep.speak(now.det, now.det.API); err == nil {
		ep.speech.Store(sp)
	}
	return nil, false
}

// nativeOf is the dialect of an engine's own, "" where there is none.
func nativeOf(name string) string {
	switch name {
	case engine.Ollama:
		return "ollama"
	case engine.LlamaCpp, engine.Llamafile:
		return "llamacpp"
	case engine.LMStudio:
		return "lmstudio"
	case engine.SGLang:
		return "sglang"
	case engine.TGI:
		return "tgi"
	case engine.Triton:
		return "triton"
	case engine.KoboldCpp:
		return "koboldcpp"
	case engine.Gemini:
		return "gemini"
	case engine.Anthropic:
		return "anthropic"
	}
	return ""
}

// dropped are the request fields that the server does not take.
func (ep *endpoint) dropped() map[string]bool {
	if m := ep.drops.Load(); m != nil {
		return *m
	}
	return nil
}

// drop leaves a field out from now on. It is false if that was so already.
func (ep *endpoint) drop(field string) bool {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	if ep.dropped()[field] {
		return false
	}
	next := maps.Clone(ep.dropped())
	if next == nil {
		next = map[string]bool{}
	}
	next[field] = true
	ep.drops.Store(&next)
	return true
}

// takeBack sends fields again that were left out to no avail. It is not tried
// with the same server again: a dozen requests would be rejected each time.
func (ep *endpoint) takeBack(fields []string) {
	ep.stubborn.Store(true)
	ep.mu.Lock()
	defer ep.mu.Unlock()
	next := maps.Clone(ep.dropped())
	for _, field := range fields {
		delete(next, field)
	}
	ep.drops.Store(&next)
}

// forget sends every field again.
func (ep *endpoint) forget() {
	ep.mu.Lock()
	defer ep.mu.Unlock()
	ep.drops.Store(nil)
}
