package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strings"
	"syscall"

	"teapot/probe/event"
	"teapot/probe/http1"
)

// connectClass is the class of a failure to connect. phase is the class of the
// phase that failed, as the trace of the connection saw it.
func connectClass(err error, phase event.Class) event.Class {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return event.ErrDNS
	case refused(err):
		return event.ErrRefused
	case timedOut(err):
		return event.ErrConnectTime
	case phase == event.ErrTLS:
		return event.ErrTLS
	}
	return event.ErrConnect
}

// refused tells whether nobody listens. Windows has an error of its own for it.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || strings.Contains(err.Error(), "refused")
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout() || errors.Is(err, context.DeadlineExceeded)
}

// replyClass is the class of a failure after the request left and before the
// headers of a reply were read.
func replyClass(err error) event.Class {
	if noHTTP(err) || brokenHead(err) {
		return event.ErrNotStream
	}
	return event.ErrReset
}

// noHTTP tells whether what came is not HTTP at all.
func noHTTP(err error) bool {
	return strings.Contains(err.Error(), "malformed HTTP") || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// brokenHead tells whether a header came that breaks the rules of HTTP: the
// connection is whole. Most of these errors have no type of their own.
func brokenHead(err error) bool {
	var rule textproto.ProtocolError
	for _, known := range []error{http1.ErrHeadTooLong, http1.ErrSwitched, http1.ErrInformational} {
		if errors.Is(err, known) {
			return true
		}
	}
	text := err.Error()
	return errors.As(err, &rule) || slices.ContainsFunc([]string{
		"malformed MIME header", "bad Content-Length", "unsupported transfer encoding", "too many transfer encodings",
		"response headers exceeded", "invalid header field", "unexpected content-length", "Content-Length headers",
	}, func(known string) bool { return strings.Contains(text, known) })
}

// describe says in a few words what happened, for a person. What net/http and
// the net package put before the cause is left out: the target is known.
func describe(class event.Class, err error) string {
	var dns *net.DNSError
	switch {
	case class == event.ErrDNS && errors.As(err, &dns):
		return "no such host: " + dns.Name
	case class == event.ErrConnectTime:
		return "no connection in time"
	case class == event.ErrRefused:
		return "connection refused"
	case class == event.ErrReset && errors.Is(err, io.EOF):
		return "the server closed the connection without an answer"
	case class == event.ErrReset && errors.Is(err, syscall.ECONNRESET):
		return "the server reset the connection without an answer"
	case class == event.ErrNotStream && noHTTP(err):
		return "the answer is not HTTP"
	case class == event.ErrNotStream:
		return "the header of the answer is broken: " + err.Error()
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}
