package probe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
	"teapot/probe/sse"
	"teapot/probe/stamp"
)

// maxErrorBody is how much is read of the body of an answer that is no stream.
const maxErrorBody = 64 << 10

// maxTries bounds how often one job is sent: once more after a connection that
// had gone stale, and once more for each field or dialect that the server
// rejects.
const maxTries = 20

// job is one request that the loop wants made.
type job struct {
	ordinal   uint64 // among the requests of its target, from 1: which prompt it is
	scheduled int64  // when the open loop wanted it; 0 in a closed loop
	warmup    bool
	asked     int  // output tokens
	prompt    int  // prompt tokens aimed at
	trial     bool // it finds out whether the target is back
	serial    int  // of the settings it is made with
}

// outcome is what the loop has to know of a request that ended.
type outcome struct {
	class      event.Class
	message    string
	retryAfter time.Duration
	tokens     int  // prompt and output together, as well as is known
	spoke      bool // a token came
	busy       bool // inside of a stream it was told that the server has too much to do
	ended      int64
}

// sender makes the requests of one stream of one target, one at a time. Its
// buffers are kept between them.
type sender struct {
	ep   *endpoint
	in   *inbox
	clk  *stamp.Clock
	hb   *stamp.Heartbeat
	fl   *floor
	ids  func() uint64
	lim  event.Limits
	news *changes
	slot uint32
	line line
	body body
	sse  sse.Reader
	// guesses are the fields that were left out of the present job on suspicion.
	guesses []string
}

// newSender makes the sender of a slot.
func (r *run) newSender(ep *endpoint, slot uint32) *sender {
	s := &sender{ep: ep, in: r.in, clk: r.clk, hb: r.hb, fl: &r.floor, ids: r.nextID, lim: r.limits, news: &r.changes, slot: slot}
	s.line = line{direct: ep.direct, rt: ep.rt, clk: r.clk}
	s.body = body{clk: r.clk, hb: r.hb, red: ep.red, target: ep.id, slot: slot}
	return s
}

// do makes a request and repeats it where the first try says nothing of the
// server: on a connection that had gone stale, without a field that the server
// rejects, and in another dialect. Such a try counts neither way.
func (s *sender) do(ctx context.Context, j job) outcome {
	stale := false
	for try := 1; ; try++ {
		t := s.attempt(ctx, j)
		t.retried = stale
		t.send()
		again := try < maxTries && ctx.Err() == nil
		switch {
		case t.stale && !stale && again:
			stale = true
			s.ep.rt.CloseIdleConnections()
			t.end.Class, t.end.Message = event.Aborted, "the server had closed the idle connection: sent again on a new one"
			t.end.Flags = append(t.end.Flags, event.FlagRetried, event.FlagSentAgain)
		case again && s.adapt(t):
		default:
			s.learn(t)
			return t.finish()
		}
		t.finish()
	}
}

// attempt is one try at a request, from its preparation to its end.
type attempt struct {
	s      *sender
	ctx    context.Context
	job    job
	id     uint64
	prompt int
	trip   trip
	dog    watchdog
	pauses pauses
	cancel context.CancelCauseFunc
	begun  int64
	speech *speech
	ask    api.Ask

	retried bool
	spoke   bool
	busy    bool
	stale   bool     // it failed on a connection that had stood idle, before any byte of an answer
	refused *refusal // nil: it was not
	end     event.End
	wait    time.Duration
}

// attempt prepares a try under a new number.
func (s *sender) attempt(ctx context.Context, j job) *attempt {
	t := &attempt{s: s, job: j, id: s.ids(), begun: s.clk.Now(), speech: s.ep.speech.Load()}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	t.dog = watchdog{limits: s.lim, now: s.clk.Now, asleep: s.hb.Overshot, cancel: t.cancel}
	t.trip = trip{clk: s.clk, onGot: t.dog.connected, onSent: t.announce}
	t.end = event.End{Target: s.ep.id, Request: t.id, Slot: s.slot, Warmup: j.warmup}
	return t
}

// announce puts the request into the stream of events.
func (t *attempt) announce(at, wrote int64, spans event.Start) {
	if m := t.s.news.take(at, t.job.serial); m != nil {
		t.s.in.put(m)
	}
	t.s.in.put(&event.Start{
		At: at, Target: t.s.ep.id, Request: t.id, Slot: t.s.slot, Scheduled: t.job.scheduled, Warmup: t.job.warmup,
		Reused: spans.Reused, Idle: spans.Idle, DNS: spans.DNS, TCP: spans.TCP, TLS: spans.TLS,
		Asked: t.job.asked, Prompt: t.prompt, Wrote: wrote,
	})
}

// send makes the try and fills in how it ended.
func (t *attempt) send() {
	defer t.cancel(nil)
	defer t.trip.over()
	req, err := t.request()
	if err != nil {
		t.end.Class, t.end.Message = event.ErrParam, err.Error()
		t.s.ep.forget() // what it does not take may have been too much to do without
		return
	}
	t.dog.start()
	resp, err := t.s.line.send(req, &t.trip)
	if err != nil {
		t.noReply(err)
		return
	}
	defer resp.Body.Close()
	on, rtt := t.trip.carrier(), int64(0)
	at, source := t.s.clk.Now(), event.SourceRead
	if on.conn != nil {
		rtt = int64(on.conn.RTT())
	}
	if on.came != nil && !on.multi {
		if r := on.came.Last(); r.Seq > 0 && r.At >= t.trip.sent.Load() {
			at, source = r.At, r.Source
		}
		t.s.fl.uses(on.conn)
	} else {
		on.came = nil
	}
	t.trip.left(0)
	t.dog.heard.Store(at)
	t.end.Status = resp.StatusCode
	t.s.in.put(&event.Headers{
		At: at, Target: t.s.ep.id, Request: t.id, Status: resp.StatusCode, Proto: resp.Proto, Source: source, RTT: rtt,
	})
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		t.refusal(resp)
		return
	}
	t.stream(resp, on.came)
}

// request builds the request.
func (t *attempt) request() (*http.Request, error) {
	ep, sp := t.s.ep, t.speech
	var text string
	text, t.prompt = ep.prompts.make(t.job.ordinal, t.job.prompt)
	t.ask = api.Ask{
		Model: sp.det.Model, Prompt: text, MaxTokens: t.job.asked, Seed: ep.prompts.seed,
		Engine: sp.det.Fields, Cold: ep.prompts.cold, Drop: ep.dropped(),
	}
	if len(t.ask.Drop) > 0 {
		t.end.Flags = append(t.end.Flags, event.FlagFieldDropped)
	}
	content, err := sp.dialect.Body(t.ask)
	if err != nil {
		return nil, err
	}
	req := (&http.Request{
		Method: http.MethodPost, URL: sp.url, Header: t.header(), Host: ep.host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(content)), ContentLength: int64(len(content)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
	}).WithContext(httptrace.WithClientTrace(t.ctx, t.trip.trace()))
	return req, nil
}

// header is that of this try: it carries a number by which the request can be
// found in the server's log, unless the user sends one.
func (t *attempt) header() http.Header {
	h := maps.Clone(t.speech.header)
	if _, given := h["X-Request-Id"]; !given {
		h["X-Request-Id"] = []string{fmt.Sprintf("teapot-%08x-%d", t.s.ep.prompts.session, t.id)}
	}
	return h
}

// noReply classes a try to which no reply came.
func (t *attempt) noReply(err error) {
	class, limit := t.dog.end()
	left := t.trip.sent.Load() > 0
	kept := t.trip.carrier().kept
	switch {
	case class != "":
		t.gaveUp(limitError{class: class, limit: limit})
	case context.Cause(t.ctx) != nil:
		t.end.Class, t.end.Message = event.Aborted, ""
	case left:
		t.end.Class = replyClass(err)
		t.end.Message = describe(t.end.Class, err)
		t.timerHint()
		t.stale = kept && !t.trip.answered.Load() && t.end.Class == event.ErrReset
	default:
		t.end.Class = connectClass(err, t.trip.fault())
		t.end.Message = describe(t.end.Class, err)
		t.stale = kept && t.trip.fault() == "" // it was closed before a byte could leave
	}
	t.trip.never(t.begun)
}

// gaveUp notes the limit that passed.
func (t *attempt) gaveUp(late limitError) {
	t.end.Class, t.end.Message = late.class, late.Error()
	if late.class.Censored() {
		t.end.Limit = int64(late.limit)
	}
}

// refusal reads an answer that is no success.
func (t *attempt) refusal(resp *http.Response) {
	t.dog.ending()
	content, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	t.dog.end()
	t.cancel(nil)
	content = t.s.ep.red.raw(content)
	t.end.Class, t.end.Message, t.wait = api.HTTPError(resp.StatusCode, resp.Header, content)
	t.refused = &refusal{resp.StatusCode, content, t.end.Message}
	if gatewayTimeout(resp.StatusCode) {
		t.timerHint()
	}
	if to, err := resp.Location(); resp.StatusCode/100 == 3 && err == nil {
		t.end.Message = "it redirects to " + to.Scheme + "://" + to.Host + to.Path + ", which is not followed"
	}
}

// finish closes the request in the stream of events.
func (t *attempt) finish() outcome {
	e := &t.end
	e.At = t.s.clk.Now()
	if t.retried {
		e.Flags = append(e.Flags, event.FlagRetried)
	}
	e.RetryAfter = int64(t.wait)
	line := t.s.ep.red.line
	e.Message, e.Finish, e.Provider = line(e.Message), line(e.Finish), line(e.Provider)
	t.trip.never(t.begun)
	t.s.in.put(e)
	o := outcome{class: e.Class, message: e.Message, retryAfter: t.wait, ended: e.At, tokens: e.Prompt + e.N, spoke: t.spoke, busy: t.busy}
	if e.Prompt == 0 && e.N > 0 {
		o.tokens += t.prompt
	}
	return o
}
