package plain

import (
	"strings"
	"testing"

	"teapot/probe/event"
)

func TestLog(t *testing.T) {
	var b strings.Builder
	l := NewLog(&b)
	for _, ev := range []event.Event{
		&event.Session{Wall: 1_700_000_000_000_000_000, Version: "1", Host: "gpu07", PID: 7},
		&event.Target{At: 1e9, ID: 1, URL: "http://user:secret@h:1", State: event.StateLive},
		&event.Target{At: 2e9, ID: 1, URL: "http://user:secret@h:1", State: event.StateLive},
		&event.Token{At: 2e9},
		&event.Text{At: 2e9, Text: "words"},
		&event.Note{At: 3e9, Level: "warn", Text: "odd \x1b[2Jthing"},
		&event.End{At: 4e9, Request: 3, Class: event.ErrTruncated, Message: "cut"},
		&event.End{At: 4e9, Request: 4, Class: event.OKFull},
		&event.Finished{At: 5e9, Reason: "requests"},
	} {
		if err := l.Add(ev); err != nil {
			t.Fatal(err)
		}
	}
	want := `2023-11-14T22:13:20.000Z info teapot 1 probes from gpu07, process 7
2023-11-14T22:13:21.000Z info http://h:1 live
2023-11-14T22:13:23.000Z warn odd thing
2023-11-14T22:13:24.000Z warn request 3 failed, truncated: cut
2023-11-14T22:13:25.000Z info finished: requests
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}
