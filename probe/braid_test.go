package probe

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// piece is some text of one channel.
type piece struct {
	channel int
	text    string
}

// woven sends pieces through a body: what came out of each channel, and what came
// out in the order in which it did.
func woven(pieces []piece) (each [event.Counted + 1]string, all string) {
	b := body{red: newRedactor(nil, "QWERTYUIOPAS", nil)}
	for i := range b.veils {
		b.veils[i].reset(&b.red.find)
	}
	b.braid.last = -1
	for _, p := range pieces {
		b.arena = b.arena[:0]
		b.weave(p.channel, []byte(p.text))
		each[p.channel] += string(b.arena)
		all += string(b.arena)
	}
	for i := range b.veils {
		rest := string(b.veils[i].finish(nil))
		each[i] += rest
		all += rest
	}
	return each, all
}

// However the pieces of a secret take turns between channels, no more of it is
// shown than a veil shows of a beginning.
func TestSecretsAcrossChannelsAreHidden(t *testing.T) {
	const secret = "QWERTYUIOPAS"
	rapid.Check(t, func(t *rapid.T) {
		channel := rapid.IntRange(0, int(event.Counted))
		pieces := []piece{{channel.Draw(t, "before"), "the key is "}}
		for rest := secret; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "length")
			pieces = append(pieces, piece{channel.Draw(t, "channel"), rest[:n]})
			rest = rest[n:]
		}
		pieces = append(pieces, piece{channel.Draw(t, "behind"), " or so"})
		each, all := woven(pieces)
		if shown := len(all) - len(strings.Trim(all, secret)); strings.Contains(all, secret) || shown < 0 {
			t.Fatalf("%q of %v", all, pieces)
		}
		letters := 0
		for _, c := range strings.ReplaceAll(all, redacted, "") {
			if strings.ContainsRune(secret, c) {
				letters++
			}
		}
		if letters >= minPart {
			t.Fatalf("%d bytes of the secret are shown: %q (%q) of %v", letters, all, each, pieces)
		}
		if !strings.Contains(all, "the key is ") || !strings.Contains(all, " or so") {
			t.Fatalf("something else is gone: %q of %v", all, pieces)
		}
	})
}

// Text without a secret comes out as it went in, whatever its channels.
func TestChannelsWithoutSecretsAreLeftAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want [event.Counted + 1]string
		var pieces []piece
		for range rapid.IntRange(0, 20).Draw(t, "pieces") {
			p := piece{rapid.IntRange(0, int(event.Counted)).Draw(t, "channel"), rapid.StringMatching("[QWEa ]{0,6}").Draw(t, "text")}
			pieces = append(pieces, p)
			want[p.channel] += p.text
		}
		if got, _ := woven(pieces); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// A secret that is whole in its own channel is hidden though other channels speak
// in between.
func TestSecretsBetweenOtherTextAreHidden(t *testing.T) {
	each, _ := woven([]piece{{0, "a QWERTY"}, {1, "hm"}, {0, "UIOP"}, {1, "QWERTY or so"}, {0, "AS b"}})
	if each[0] != "a [redacted] b" || !strings.HasSuffix(each[1], " or so") {
		t.Errorf("%q", each)
	}
}
