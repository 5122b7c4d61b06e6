package accuracy

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"teapot/probe"
	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/probe/stamp"
)

// inside is the real probe within this process: what it tells is the same, only
// not as exact as in a process of its own.
func inside() client {
	return client{Name: "inside", can: func(Transport) bool { return true }, run: func(ctx context.Context, t *target, l Load) (ran, error) {
		var out bytes.Buffer
		w, err := record.NewWriter(&out, record.Options{})
		if err != nil {
			return ran{}, err
		}
		cfg := event.Config{
			Targets: []event.TargetConfig{{URL: t.where, API: "chat", Model: l.Model, CACert: t.ca}},
			Load:    event.Load{Concurrency: l.Streams, Requests: l.Streams, MaxTokens: l.Tokens, PromptTokens: 8},
			Limits: event.Limits{
				Connect: 20 * time.Second, First: 30 * time.Second, Idle: 30 * time.Second, Total: time.Minute, Grace: 10 * time.Second,
			},
		}
		if err := probe.Run(ctx, cfg, nil, w, stamp.NewClock()); err != nil {
			return ran{}, err
		}
		return readEvents(&out)
	}}
}

// What the probe tells of each token agrees with the log, by every transport:
// all tokens, each of them once and not before it was written, and each gap
// either stood for or disowned.
func TestTheProbe(t *testing.T) {
	for _, tr := range Transports() {
		t.Run(string(tr), func(t *testing.T) {
			tg, err := startTarget(t.Context(), tr)
			if err != nil {
				t.Fatal(err)
			}
			defer tg.stop()
			l := Load{Model: "constant:5000", Streams: 2, Tokens: 200}
			r, told, err := measured(t.Context(), inside(), tg, l)
			if err != nil {
				t.Fatal(err)
			}
			if r.Streams != l.Streams || r.Tokens != l.Streams*l.Tokens || r.Missing != 0 {
				t.Errorf("%d streams, %d tokens, %d missing", r.Streams, r.Tokens, r.Missing)
			}
			if n := l.Streams * (l.Tokens - settle); len(r.Errors)+r.Disowned != n || len(r.Client) != len(r.Server) {
				t.Errorf("%d errors and %d disowned of %d gaps", len(r.Errors), r.Disowned, n)
			}
			// The two clocks are held against each other by the wall clock.
			if r.Delays[0] < -int64(5*time.Millisecond) {
				t.Errorf("a token arrived %d ns before it was written", -r.Delays[0])
			}
			causal(t, told.heard)
			if source := told.probe.source; source != event.SourceRead && (source != event.SourceKernel || tr == Unix || tr == HTTP2) {
				t.Errorf("stamps of %q", source)
			}
		})
	}
}

// causal checks that the times of a stream do not go back, and that a read was
// never taken before it came.
func causal(t *testing.T, heard []Heard) {
	t.Helper()
	for _, h := range heard {
		for i := range h.At {
			if h.Late[i] < 0 || i > 0 && h.At[i] < h.At[i-1] || h.At[i] < h.Sent {
				t.Fatalf("stream %s, token %d: at %d, taken %d later; the request left at %d", h.ID, i, h.At[i], h.Late[i], h.Sent)
			}
		}
	}
}

func TestTheSelfTest(t *testing.T) {
	tg, err := startTarget(t.Context(), HTTP)
	if err != nil {
		t.Fatal(err)
	}
	defer tg.stop()
	f, err := selfTest(t.Context(), tg, inside(), selfLoad(300*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if f.Streams != 8 || f.Tokens != 8*187 || f.Missing != 0 || f.ErrorP50 > f.ErrorP99 || f.ErrorP99 > f.ErrorMax || f.Trust != 10*f.ErrorP99 {
		t.Errorf("%+v", f)
	}
	text := f.text()
	for _, want := range []string{"error of a gap", "read late by", "oversleep", "disowned", "µs of CPU a token", "Believe a gap percentile"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}

func TestSelfTestAdvises(t *testing.T) {
	cases := []struct {
		name  string
		floor Floor
		want  string
		not   string
	}{
		{"well", Floor{Source: event.SourceKernel, Trust: 0.12}, "from about 0.12 ms on", "This machine is busy"},
		{"busy", Floor{Source: event.SourceKernel, Disowned: 0.2, Trust: 12}, "This machine is busy", "do not believe"},
		{"no stamps", Floor{Source: event.SourceRead}, "Without the kernel's stamps", "This machine is busy"},
		{"lost", Floor{Source: event.SourceKernel, Missing: 3}, "3 tokens are missing", "This machine is busy"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if s := c.floor.text(); !strings.Contains(s, c.want) || strings.Contains(s, c.not) {
				t.Error(s)
			}
		})
	}
}

// A recording that says what makes figures worthless is refused.
func TestEventsThatForbidAJudgement(t *testing.T) {
	cases := []struct {
		name string
		ev   event.Event
		want string
	}{
		{"dropped", &event.Dropped{Events: 3}, "3 events were dropped"},
		{"failed", &event.End{Request: 7, Class: event.ErrReset, Message: "peer"}, "request 7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := record.NewWriter(&out, record.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range []event.Event{&event.Session{Wall: 5}, c.ev} {
				if err := w.Add(ev); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := readEvents(&out); err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	for _, name := range []string{"TEAPOT_RATE", "https_proxy", "HTTP_PROXY", "OPENAI_API_KEY"} {
		t.Setenv(name, "http://nowhere:1")
	}
	t.Setenv("ACCURACY_KEPT", "yes")
	env := strings.Join(environment("/dir"), "\n")
	if strings.Contains(env, "nowhere") || !strings.Contains(env, "XDG_CONFIG_HOME=/dir") || !strings.Contains(env, "ACCURACY_KEPT=yes") {
		t.Error(env)
	}
}
