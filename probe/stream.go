package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"teapot/probe/api"
	"teapot/probe/event"
	"teapot/probe/sse"
	"teapot/probe/stamp"
)

// stream reads the reply as it arrives.
func (t *attempt) stream(resp *http.Response, conn arrivals) {
	b := &t.s.body
	src := io.Reader(resp.Body)
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		t.end.Flags = append(t.end.Flags, event.FlagCompressed)
		if strings.EqualFold(enc, "gzip") {
			src = &inflater{src: src}
		}
	}
	b.sink = t.tokens
	b.begin(src, conn, t.id, t.trip.sent.Load(), &t.dog.heard)
	dec := t.speech.dialect.NewDecoder()
	events := &t.s.sse
	events.Reset(b, sse.Options{Hint: sse.FormatOf(resp.Header.Get("Content-Type"))})
	b.rest = events.Buffered
	err := t.read(events, dec)
	b.flush()
	b.end(func(rest *event.Text) { t.s.in.put(rest) })
	t.spoke = b.total > 0
	dec.Framed(events.Format())
	t.dog.end()
	cause := context.Cause(t.ctx)
	if err != io.EOF {
		t.cancel(nil) // first: closing a body waits for nothing then
	}
	t.end.FirstByte = b.first
	t.judge(dec, err, cause, resp.Header)
	t.unpacked(err, resp.Header.Get("Content-Encoding"))
}

// unpacked says of a reply that made no sense that it was compressed in a way
// that cannot be undone here, or wrongly, where that is so.
func (t *attempt) unpacked(err error, encoding string) {
	var zip *zipError
	switch e := &t.end; {
	case e.Class.OK() || !slices.Contains(e.Flags, event.FlagCompressed):
	case errors.As(err, &zip) && e.Class != event.ErrStream:
		e.Class, e.Message = event.ErrDecode, zip.Error()
	case t.spoke || strings.EqualFold(encoding, "gzip"):
	case e.Class == event.ErrTruncated, e.Class == event.ErrDecode, e.Class == event.ErrNotStream, e.Class == event.ErrEmpty:
		e.Class, e.Message = event.ErrDecode, "the reply is compressed as "+encoding+", which was not asked for and is not read"
	}
}

// errorKey is in an event that reports an error, whatever else it holds.
var errorKey = []byte(`"error"`)

// read takes events until the body ends, breaks, or is given up.
func (t *attempt) read(r *sse.Reader, dec api.Decoder) error {
	var ( // one each, or every event would put one on the heap
		ev   sse.Event
		part api.Part
		err  error
	)
	ended := false
	for {
		if ev, err = r.Next(); err != nil {
			return err
		}
		if len(t.s.ep.red.secrets) > 0 && !t.hasVeil(ev.Data) {
			ev.Data = t.s.ep.red.raw(ev.Data)
		}
		dec.Decode(&ev, &part)
		t.s.body.add(&ev, &part)
		if !ended && dec.Ended() {
			ended = true
			t.dog.ending()
		}
	}
}

// hasVeil tells whether an event holds text of a reply and nothing else that
// would be shown: the secrets in that are hidden where it is put together.
func (t *attempt) hasVeil(data []byte) bool {
	return bytes.Contains(data, t.speech.mark) && !bytes.Contains(data, errorKey)
}

// tokens takes the token events of one read.
func (t *attempt) tokens(tokens []event.Token, texts []event.Text, r stamp.Read, merged int) {
	t.s.in.putTokens(tokens, texts)
	t.s.fl.read(r.Late, len(tokens), merged)
	t.dog.token(r.Taken())
	if t.pauses.long(r.At) {
		t.s.ep.lookNow()
	}
}

// judge settles how a reply that began ended. err ended the reading, and cause
// is why the request was given up, nil if it was not. The header of the reply
// may say something of the server's work, too.
func (t *attempt) judge(dec api.Decoder, err error, cause error, header http.Header) {
	var late limitError
	limited := errors.As(cause, &late)
	if err == io.EOF || limited && late.class == "" {
		err = nil // what was given up was only the wait for the end
	}
	res := dec.Result(t.job.asked, brokenBy(err))
	res.Headers(header)
	t.busy = res.Overload
	e := &t.end
	e.Class, e.Message, e.Finish = res.Class, res.Message, res.Finish
	e.N, e.Count, e.Prompt, e.Cached = res.N, res.Count, res.Prompt, res.Cached
	e.Reasoning, e.HiddenReasoning, e.Server, e.Provider = res.Reasoning, res.Hidden, res.Server, res.Provider
	e.Flags = append(e.Flags, res.Flags...)
	if otherModel(t.ask.Model, res.Model) {
		e.Flags = append(e.Flags, event.FlagOtherModel)
	}
	if cause == nil && res.Class == event.ErrTruncated {
		t.timerHint()
	}
	if err == nil || cause == nil || res.Class != event.ErrTruncated && res.Class != event.ErrEmpty {
		return // what the server did outranks that we then stopped waiting
	}
	if limited {
		t.gaveUp(late)
		return
	}
	e.Class, e.Message = event.Aborted, ""
}

// otherModel tells whether a reply names a model that is not the one asked
// for. A server may say it with a path before or a date behind.
func otherModel(asked, got string) bool {
	if asked == "" || got == "" || strings.EqualFold(asked, got) {
		return false
	}
	a, g := strings.ToLower(asked), strings.ToLower(got)
	return !strings.HasPrefix(g, a) && !strings.HasSuffix(g, "/"+a) && !strings.HasSuffix(a, "/"+g) && !strings.HasPrefix(a, g)
}
