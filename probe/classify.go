package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"teapot/probe/event"
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
	if strings.Contains(err.Error(), "malformed HTTP") || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return event.ErrNotStream
	}
	return event.ErrReset
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
	case class == event.ErrNotStream:
		return "the answer is not HTTP"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}
