package probe

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWordListHasOneWordForEachByte(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		seen[w] = true
	}
	if len(words) != 256 || len(seen) != 256 {
		t.Fatalf("%d words, %d of them different; want 256", len(words), len(seen))
	}
}

func TestPromptLength(t *testing.T) {
	for _, c := range []struct {
		name       string
		cold       bool
		want       int
		wantTokens int
	}{
		{"cold, the usual", true, 64, 64},
		{"warm, the usual", false, 64, 64},
		{"cold, long", true, 4096, 4096},
		{"cold, shorter than a nonce", true, 3, nonceWords},
		{"cold, no room for the instruction", true, 20, 20},
		{"warm, one", false, 1, 1},
		{"warm, nothing", false, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := prompts{seed: 1, session: 99, cold: c.cold}
			text, tokens := p.make(1, c.want)
			if tokens != c.wantTokens {
				t.Errorf("said to be %d tokens, want %d", tokens, c.wantTokens)
			}
			if n := len(strings.Fields(text)); n != c.wantTokens {
				t.Errorf("%d words, want %d: %q", n, c.wantTokens, text)
			}
			if strings.HasPrefix(text, " ") {
				t.Errorf("begins with a space: %q", text)
			}
		})
	}
}

func TestColdPromptsShareNoBeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 1<<32-1).Draw(t, "n")
		session := rapid.Uint32().Draw(t, "session")
		nonce := func(n uint64, session uint32) string {
			p := prompts{seed: 5, session: session, cold: true}
			text, _ := p.make(n, 64)
			return strings.Join(strings.Fields(text)[:nonceWords], " ")
		}
		if nonce(n, session) == nonce(n+1, session) {
			t.Fatalf("requests %d and %d begin alike", n, n+1)
		}
		if nonce(n, session) == nonce(n, session+1) {
			t.Fatalf("sessions %d and %d begin alike", session, session+1)
		}
		if a, b := strings.Fields(nonce(n, session))[0], strings.Fields(nonce(n+1, session))[0]; a == b {
			t.Fatalf("requests %d and %d share their first word %q", n, n+1, a)
		}
	})
}

func TestPromptsAreSeeded(t *testing.T) {
	make1 := func(p prompts, n uint64) string { text, _ := p.make(n, 100); return text }
	cold := prompts{seed: 3, session: 1, cold: true}
	warm := prompts{seed: 3}
	if make1(cold, 2) != make1(cold, 2) {
		t.Error("the same request twice gave two prompts")
	}
	if make1(warm, 1) != make1(warm, 2) {
		t.Error("warm prompts differ: no cache can ever hit")
	}
	if make1(warm, 1) == make1(prompts{seed: 4}, 1) {
		t.Error("two seeds gave the same filler")
	}
	other := cold
	other.session = 2
	a, b := strings.Fields(make1(cold, 2)), strings.Fields(make1(other, 2))
	if strings.Join(a[nonceWords:], " ") != strings.Join(b[nonceWords:], " ") {
		t.Error("the filler depends on the session")
	}
}

func TestOwnPromptsInTurn(t *testing.T) {
	p := prompts{own: []string{"first", "second\nline"}, session: 7}
	for n, want := range map[uint64]string{1: "first", 2: "second\nline", 3: "first"} {
		if text, tokens := p.make(n, 64); text != want || tokens != 0 {
			t.Errorf("request %d: %q of %d tokens, want %q of unknown length", n, text, tokens, want)
		}
	}
	p.cold = true
	text, tokens := p.make(2, 64)
	nonce, rest, _ := strings.Cut(text, "\n")
	if rest != "second\nline" || len(strings.Fields(nonce)) != nonceWords || tokens != 0 {
		t.Errorf("cold: %q of %d tokens", text, tokens)
	}
}
