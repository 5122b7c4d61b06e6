package probe

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"teapot/probe/event"
)

func TestReadControls(t *testing.T) {
	in := `{"do":"pause"}` + "\n\n  \n" + `{"do":"rate","value":2.5}` + "\nnonsense\n" + `{"value":1}` + "\n" + `["do"]` + "\n" + `{"do":"mark","label":"x"}`
	var got []event.Control
	for c := range ReadControls(strings.NewReader(in)) {
		got = append(got, c)
	}
	bad := event.Control{Do: doUnknown, Label: "a line that is no control was skipped"}
	same(t, "controls", []event.Control{
		{Do: event.DoPause}, {Do: event.DoRate, Value: 2.5}, bad, bad, bad, {Do: event.DoMark, Label: "x"},
	}, got)
}

func FuzzReadControls(f *testing.F) {
	for _, s := range []string{"", "{", `{"do":"start","config":{"targets":[{}]}}`, "\x00\n\xff", `{"do":1}`, `{"do":"rate","value":1e999}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for c := range ReadControls(strings.NewReader(s)) {
			if c.Do == "" {
				t.Errorf("an empty control from %q", s)
			}
			settingsOf(event.Load{}).change(c)
		}
	})
}

func TestAwaitStart(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"start", `{"do":"start","config":{"text":true}}`, ""},
		{"nothing", "", "unexpected EOF"},
		{"another control", `{"do":"pause"}`, "the first line must be"},
		{"no configuration", `{"do":"start"}`, "the first line must be"},
	} {
		t.Run(c.name, func(t *testing.T) {
			controls := ReadControls(strings.NewReader(c.in))
			cfg, err := AwaitStart(t.Context(), controls)
			if c.want == "" && (err != nil || !cfg.Text) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%+v, %v", cfg, err)
			}
			for range controls {
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := AwaitStart(ctx, make(chan event.Control)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestUntilClosed(t *testing.T) {
	r, w := io.Pipe()
	ctx, controls := UntilClosed(t.Context(), ReadControls(r))
	io.WriteString(w, `{"do":"pause"}`+"\n")
	if c := <-controls; c.Do != event.DoPause {
		t.Errorf("got %+v", c)
	}
	if ctx.Err() != nil {
		t.Error("ended while the pipe is open")
	}
	w.Close()
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), errControlsClosed) {
		t.Errorf("cause %v", context.Cause(ctx))
	}
}

func TestDefaults(t *testing.T) {
	c := withDefaults(event.Config{})
	same(t, "load", event.Load{Concurrency: 1, MaxTokens: 256, PromptTokens: 128}, c.Load)
	same(t, "limits", event.Limits{Connect: 5e9, First: 30e9, Idle: 30e9, Total: 600e9, Grace: 10e9, Ready: 900e9}, c.Limits)
	c = withDefaults(event.Config{Load: event.Load{Concurrency: 1 << 30, Rate: -1, MaxTokens: -5, Requests: -1, Pause: -1}, Prompts: []string{"x"}})
	same(t, "load", event.Load{Concurrency: maxConcurrency, MaxTokens: 256}, c.Load)
}
