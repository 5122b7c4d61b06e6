package record

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"teapot/probe/event"
)

// file is a destination that can block and fail.
type file struct {
	bytes.Buffer
	hold   chan struct{} // when not nil, each Write waits for it
	fail   error
	closed bool
}

func (f *file) Write(p []byte) (int, error) {
	if f.hold != nil {
		<-f.hold
	}
	if f.fail != nil {
		return 0, f.fail
	}
	return f.Buffer.Write(p)
}

func (f *file) Close() error { f.closed = true; return nil }

func TestRecorderKeepsWhatWasPut(t *testing.T) {
	var f file
	r, err := NewRecorder(&f, Options{Compress: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(5000) {
		r.Put(&event.Token{At: i, Request: 1})
		r.Put(&event.Text{At: i, Request: 1, Text: "secret words"})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if !f.closed {
		t.Error("the file stays open")
	}
	rd, err := NewReader(&f.Buffer)
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(5000) {
		ev, err := rd.Next()
		if err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
		if tok, ok := ev.(*event.Token); !ok || tok.At != i {
			t.Fatalf("event %d is %#v", i, ev)
		}
	}
	if _, err := rd.Next(); err != io.EOF {
		t.Errorf("after the last event: %v", err)
	}
}

// A disk that hangs costs events, which the recording counts, and never time.
func TestRecorderNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &file{}
		r, err := NewRecorder(f, Options{Text: true})
		if err != nil {
			t.Fatal(err)
		}
		f.hold = make(chan struct{})
		start := time.Now()
		big := string(make([]byte, 1<<16))
		const texts = 3 * recorderLimit >> 16
		for i := range int64(texts) {
			r.Put(&event.Text{At: i, Text: big})
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("Put waited %v", waited)
		}
		close(f.hold)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		rd, err := NewReader(&f.Buffer)
		if err != nil {
			t.Fatal(err)
		}
		var kept, lost uint64
		for {
			ev, err := rd.Next()
			if err != nil {
				break
			}
			switch e := ev.(type) {
			case *event.Text:
				kept++
			case *event.Dropped:
				lost += e.Events
			}
		}
		if lost == 0 || kept+lost != texts {
			t.Errorf("%d kept, %d counted as lost, %d put", kept, lost, texts)
		}
	})
}

func TestRecorderSaysWhatFailed(t *testing.T) {
	f := &file{}
	r, err := NewRecorder(f, Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.fail = errors.New("no space left on device")
	r.Put(&event.Token{})
	if err := r.Close(); !errors.Is(err, f.fail) {
		t.Errorf("Close: %v", err)
	}
	r.Put(&event.Token{}) // must not panic
}
