package probe

import (
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/reel"
)

// ms is a time in ms, as transcripts have it.
func ms(x float64) time.Duration { return time.Duration(x * 1e6) }

// Streams that competed for a real server, some of them without the middle of
// their reads, give what can be read from the bytes that are left: who waited
// in a queue, who in a prefill, and what the server says of its own work. What
// lasted longer than three seconds is squeezed.
func TestCompetingTranscriptsOverTCP(t *testing.T) {
	plays := newCrowd(16)
	defer plays.Wait()
	for _, c := range []struct {
		file        string
		n, seen     int
		prompt      int
		head, first float64 // ms from the request to the head and to the first token
		server      event.ServerTimings
	}{
		{"D_mid_queue_client0", 60, 29, 18, 6.092, 62.478,
			event.ServerTimings{PromptN: 15, Prompt: 56445000, DecodeN: 60, Decode: 1620343000, PerToken: 27463441}},
		{"D_mid_queue_client7", 60, 28, 18, 1592.753, 1672.683,
			event.ServerTimings{PromptN: 12, Prompt: 79755000, DecodeN: 60, Decode: 1429474000, PerToken: 24228373}},
		{"E_b2048_small_decoder0", 300, 25, 33, 85.652, 222.536,
			event.ServerTimings{PromptN: 17, Prompt: 136781000, DecodeN: 300, Decode: 11564401000, PerToken: 38676926}},
		{"E_b2048_small_decoder1", 300, 25, 33, 88.061, 224.223,
			event.ServerTimings{PromptN: 17, Prompt: 136668000, DecodeN: 300, Decode: 11566685000, PerToken: 38684565}},
		{"E_b2048_small_decoder2", 300, 25, 33, 86.867, 223.171,
			event.ServerTimings{PromptN: 17, Prompt: 136775000, DecodeN: 300, Decode: 11565767000, PerToken: 38681495}},
		{"E_b2048_small_prefill", 20, 20, 929, 14.658, 1418.926,
			event.ServerTimings{PromptN: 917, Prompt: 1404282000, DecodeN: 20, Decode: 634342000, PerToken: 33386421}},
		{"E_b512_decoder0", 300, 25, 33, 118.268, 559.811,
			event.ServerTimings{PromptN: 33, Prompt: 441392000, DecodeN: 300, Decode: 28726249000, PerToken: 96074411}},
		{"E_b512_decoder1", 300, 27, 33, 6.614, 121.356,
			event.ServerTimings{PromptN: 33, Prompt: 116413000, DecodeN: 300, Decode: 29142104000, PerToken: 97465231}},
		{"E_b512_decoder2", 300, 29, 33, 119.761, 561.702,
			event.ServerTimings{PromptN: 33, Prompt: 441914000, DecodeN: 300, Decode: 28725971000, PerToken: 96073482}},
		{"E_b512_prefill", 20, 20, 4079, 78.814, 15618.779,
			event.ServerTimings{PromptN: 4079, Prompt: 15538448000, DecodeN: 20, Decode: 1037147000, PerToken: 54586684}},
		{"P_ollama_queue_client0", 40, 13, 51, 68.331, 68.331,
			event.ServerTimings{PromptN: 51, Prompt: 52032000, DecodeN: 40, Decode: 546763000, Load: 6679883, Total: 610940537, Queue: 5465654, PerToken: 13669075}},
		{"P_ollama_queue_client5", 40, 13, 51, 1166.872, 1166.872,
			event.ServerTimings{PromptN: 51, Prompt: 88441000, DecodeN: 40, Decode: 493802000, Load: 823257, Total: 1661136164, Queue: 1078069907, PerToken: 12345050}},
	} {
		plays.run(t, c.file, func(t *testing.T) {
			r, err := reel.ReadTranscript("api/testdata/recorded/" + c.file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			whole := r.Writes[len(r.Writes)-1].At
			r.Within(3500 * time.Millisecond)
			squeezed := float64(r.Writes[len(r.Writes)-1].At) / float64(whole)
			h := hear(t, r, reel.AsIs, reel.Dialect(c.file), c.n)
			if h.end.Class != event.OKFull || h.end.N != c.n || h.end.Prompt != c.prompt || len(h.tokens) != c.seen || h.head == nil {
				t.Fatalf("%s (%s), %d tokens of a prompt of %d in %d events", h.end.Class, h.end.Message, h.end.N, h.end.Prompt, len(h.tokens))
			}
			same(t, "the server's times", &c.server, h.end.Server)
			// The server heard of the request after it was sent.
			head, first := ms(c.head*squeezed), ms(c.first*squeezed)
			if got := time.Duration(h.head.At - h.start.At); got < head-clockSlop {
				t.Errorf("the head came after %v, and the server sent it after %v", got, head)
			}
			if got := time.Duration(h.tokens[0].At - h.start.At); got < first-clockSlop {
				t.Errorf("the first token came after %v, and the server sent it after %v", got, first)
			}
			if got := time.Duration(h.tokens[0].At - h.head.At); got < first-head-clockSlop || first == head && got > clockSlop {
				t.Errorf("the first token came %v after the head, and the server made that %v", got, first-head)
			}
		})
	}
}

// What real servers answered where they refused.
func TestRefusalTranscriptsOverTCP(t *testing.T) {
	for _, c := range []struct {
		file    string
		class   event.Class
		status  int
		message string
	}{
		{"A_err_bad_json", event.ErrHTTP, 500, "[json.exception.parse_error.101] parse error at line 1"},
		{"A_err_too_long_stream", event.ErrParam, 400, "request (22509 tokens) exceeds"},
		{"A_get_404", event.ErrModel, 404, "File Not Found"},
		{"C_auth_chat_badkey", event.ErrAuth, 401, "Invalid API Key"},
		{"C_auth_chat_nokey", event.ErrAuth, 401, "Invalid API Key"},
		{"O_err_missing_model", event.ErrModel, 404, "model '' not found"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			r, err := reel.ReadTranscript("api/testdata/recorded/" + c.file + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			h := hear(t, r, reel.AsIs, "chat", 2)
			if h.end.Class != c.class || h.end.Status != c.status || !strings.HasPrefix(h.end.Message, c.message) || len(h.tokens) > 0 {
				t.Errorf("%s, status %d (%s) after %d tokens", h.end.Class, h.end.Status, h.end.Message, len(h.tokens))
			}
		})
	}
}
