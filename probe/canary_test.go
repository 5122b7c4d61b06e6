package probe

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"teapot/probe/event"
)

// stretch is a part of a text, from its first byte to behind its last.
type stretch struct{ from, to int }

// secretsIn finds, the slow way, what has to be hidden in a text: secrets, and
// at its end the beginning of one. Spans within others are left out.
func secretsIn(text string, secrets []string) (spans []stretch) {
	for from := range len(text) {
		longest := 0
		for _, s := range secrets {
			if strings.HasPrefix(text[from:], s) {
				longest = max(longest, len(s))
			} else if rest := text[from:]; len(rest) >= minPart && strings.HasPrefix(s, rest) {
				longest = max(longest, len(rest))
			}
		}
		if longest > 0 && (len(spans) == 0 || from+longest > spans[len(spans)-1].to) {
			spans = append(spans, stretch{from, from + longest})
		}
	}
	return spans
}

// hiddenAs is what a text must look like with its secrets hidden: exactly, and
// as a pattern that lets the first bytes of each be seen, which may have been
// handed on before the rest was known.
func hiddenAs(text string, spans []stretch) (exact string, pattern *regexp.Regexp) {
	var e, p strings.Builder
	seenOf := func(s string) {
		for i := range len(s) {
			p.WriteString("(?:" + quoteBytes(s[i:i+1]))
		}
		p.WriteString(strings.Repeat(")?", len(s)))
	}
	p.WriteString("^")
	at := 0
	for _, s := range spans {
		if s.from >= at { // otherwise it is hidden together with the one before
			e.WriteString(text[at:s.from] + redacted)
			p.WriteString(quoteBytes(text[at:s.from]))
			seenOf(text[s.from : s.from+minPart-1])
			p.WriteString(regexp.QuoteMeta(redacted))
		} else if at < s.from+minPart-1 {
			seenOf(text[at : s.from+minPart-1])
			p.WriteString("(?:" + regexp.QuoteMeta(redacted) + ")?")
		}
		at = s.to
	}
	e.WriteString(text[at:])
	p.WriteString(quoteBytes(text[at:]) + "$")
	return e.String(), regexp.MustCompile(p.String())
}

// quoteBytes is a pattern for text as byRunes writes it.
func quoteBytes(text string) string { return regexp.QuoteMeta(byRunes(text)) }

// byRunes has a rune for each byte, for patterns that part characters.
func byRunes(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}

func TestTextOfPiecesHidesSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]string{"abc", "ab", "aé€", "sk-x"}).Draw(t, "letters")
		word := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 4, 9, 40)
		r := &redactor{}
		for _, s := range rapid.SliceOfN(word, 1, 4).Draw(t, "secrets") {
			r.secrets = append(r.secrets, s)
		}
		r.find = newMatcher(r.secrets)
		part := rapid.OneOf(rapid.SampledFrom(r.secrets), rapid.StringOfN(rapid.RuneFrom([]rune(letters+" ")), 0, 6, -1))
		text := strings.Join(rapid.SliceOfN(part, 0, 8).Draw(t, "text"), "")
		if rapid.Bool().Draw(t, "cut") {
			text = text[:rapid.IntRange(0, len(text)).Draw(t, "length")]
		}
		exact, pattern := hiddenAs(text, secretsIn(text, r.secrets))

		var v veil
		v.reset(&r.find)
		whole := string(v.finish(v.push(nil, []byte(text))))
		if whole != exact {
			t.Fatalf("at once: %q with %q became %q, want %q", text, r.secrets, whole, exact)
		}
		v.reset(&r.find)
		var out []byte
		longest := rapid.IntRange(1, 5).Draw(t, "longest")
		for left := text; left != ""; {
			n := min(rapid.IntRange(0, longest).Draw(t, "n"), len(left))
			out = v.push(out, []byte(left[:n]))
			left = left[n:]
			for _, s := range r.secrets {
				if strings.Contains(string(out), s) {
					t.Fatalf("%q was handed on of %q with %q", out, text, r.secrets)
				}
			}
		}
		out = v.finish(out)
		if !pattern.MatchString(byRunes(string(out))) {
			t.Fatalf("in pieces: %q with %q became %q, want %q", text, r.secrets, out, pattern)
		}
		if len(v.held) != 0 {
			t.Fatalf("%q is still held", v.held)
		}
	})
}

func TestTextWithoutSecretsIsNotDelayed(t *testing.T) {
	r := newRedactor(nil, "canary-xyz", nil)
	rapid.Check(t, func(t *rapid.T) {
		var v veil
		v.reset(&r.find)
		for _, word := range rapid.SliceOf(rapid.SampledFrom([]string{"can", " a", "cat", "", "ca", "n", " ", "é", "\xff"})).Draw(t, "words") {
			was := v.begun()
			if out := v.push(nil, []byte(word)); was+len(word) < minPart && string(out) != word {
				t.Fatalf("%q became %q", word, out)
			}
		}
	})
}

// leaks are the secrets, and their pieces of 5 bytes where a message ends or
// was cut, in everything that was recorded.
func leaks(t *testing.T, all []event.Event, secrets ...string) {
	t.Helper()
	streams := map[uint64]string{}
	for _, ev := range all {
		record := string(event.Append(nil, ev))
		if text, ok := ev.(*event.Text); ok {
			streams[text.Request] += text.Text
		}
		for _, s := range secrets {
			if strings.Contains(record, s) {
				t.Errorf("%q is in %+v", s, ev)
			}
		}
		if end, ok := ev.(*event.End); ok {
			for _, part := range strings.Split(end.Message+"…"+end.Finish, "…") {
				pieces(t, part, strings.HasSuffix, secrets)
			}
		}
		if target, ok := ev.(*event.Target); ok {
			pieces(t, target.Detail, strings.Contains, secrets)
		}
	}
	for _, text := range streams {
		pieces(t, text, strings.Contains, secrets)
	}
}

// pieces looks for pieces of secrets.
func pieces(t *testing.T, text string, in func(string, string) bool, secrets []string) {
	t.Helper()
	for _, s := range secrets {
		for i := range len(s) - 4 {
			if in(text, s[i:i+5]) {
				t.Errorf("%q of %q is in %q", s[i:i+5], s, text)
			}
		}
	}
}

// The server sends back what it was sent, in every way it can think of.
func TestCanaryIsNotEchoed(t *testing.T) {
	const key = `canary/<xyz>,"42"` // what it is made of looks like no key
	t.Setenv("CANARY_TEST_KEY", key)
	basic := base64.StdEncoding.EncodeToString([]byte("alice-user:open sesame"))
	const comma = "abc123def;tail,part@tail" // patterns of keys end at such marks
	secrets := []string{key, "open sesame", basic, "query-value", comma}
	quoted, _ := json.Marshal(key)
	escaped := string(quoted[1 : len(quoted)-1])

	stream := func(events ...string) func(net.Conn, string) {
		return func(c net.Conn, _ string) {
			io.WriteString(c, streamHead)
			say(c, role)
			say(c, events...)
			say(c, length, usage(2), done)
			io.WriteString(c, lastOne)
		}
	}
	split := func(text string, n int) (events []string) {
		for len(text) > n {
			events, text = append(events, tok(text[:n])), text[n:]
		}
		return append(events, tok(text))
	}
	refuse := func(message string) func(net.Conn, string) {
		return func(c net.Conn, _ string) { plain(c, 400, "application/json", message) }
	}
	answers := map[string]func(net.Conn, string){
		"echoed authorization": func(c net.Conn, auth string) {
			b, _ := json.Marshal(strings.Repeat("word ", 36) + auth)
			plain(c, 401, "application/json", `{"error":{"message":`+string(b)+`}}`)
		},
		"plain text":        refuse("no " + key + " please"),
		"html":              refuse("<html><title>" + strings.Repeat("x", 178) + key + "</title></html>"),
		"unknown object":    refuse(`{"what":"` + strings.Repeat("word ", 37) + escaped + `"}`),
		"basic":             refuse(`{"detail":"wrong: ` + basic + `"}`),
		"marks in a key":    refuse(`{"error":{"message":"api_key=` + comma + ` is wrong"}}`),
		"marks in an error": stream(tok("a"), `data: {"error":{"message":"api_key=`+comma+` is wrong"}}`+"\n\n"),
		"query":             refuse(`{"detail":"wrong query-value"}`),
		"error event":       stream(tok("a"), `data: {"error":{"message":"`+strings.Repeat("word ", 37)+escaped+`"}}`+"\n\n"),
		"finish reason":     stream(tok("a"), `data: {"choices":[{"index":0,"delta":{},"finish_reason":"`+strings.Repeat("x", 190)+escaped+`"}]}`+"\n\n"),
		"not a stream": func(c net.Conn, _ string) {
			plain(c, 200, "text/html", "<html><title>"+strings.Repeat("word ", 30)+key+"</title></html>")
		},
		"cut reply": stream(split(key[:len(key)-1], 4)...),
	}
	for i := range 12 {
		answers[fmt.Sprintf("whole in refusal, cut at %d", i)] = refuse(fmt.Sprintf(`{"error":{"message":"%s%s"}}`, strings.Repeat("x ", 93)+strings.Repeat("y", i), escaped))
		answers[fmt.Sprintf("tokens of %d", i+1)] = stream(split("a "+key+key+" b open sesame "+basic, i+1)...)
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(_ int, c net.Conn, r *http.Request) bool {
				answer(c, r.Header.Get("Authorization"))
				return true
			})
			for _, user := range []string{"", "alice-user:open%20sesame@"} {
				cfg := config(strings.Replace(s.url, "://", "://"+user, 1)+"/v1?sig=query-value", 1)
				cfg.Targets[0].KeyEnv = "CANARY_TEST_KEY"
				cfg.Targets[0].Headers = []string{"X-Api-Token: " + comma}
				if user == "" { // nothing of it is known then
					cfg.Targets[0].Headers = append(cfg.Targets[0].Headers, "X-Secret: open sesame", "X-Token: "+basic)
				}
				all := watch(t, cfg, nil)
				if len(of[*event.End](all)) == 0 {
					t.Fatal("no request ended")
				}
				leaks(t, all, secrets...)
			}
		})
	}
}
