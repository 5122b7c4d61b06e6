package probe

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
)

// What clients of such servers are known to get wrong, and the tests that show
// it right here; those of probe/sse and probe/api are named where this package
// adds nothing to them.
//
//	a role chunk taken for a token       TestKnownMistakes
//	reasoning not counted, renamed       TestCasesOverTCP: vllm_reasoning_dialects, mistral_blocks
//	a chunk taken for a token            TestMeaningOfReplies: a counter; api: TestEvidence
//	pieces of text tokenised again       nothing does: N is the server's, or counts events and says so
//	usage lost behind the finish reason  TestMeaningOfReplies
//	an error in a 200 missed             TestMeaningOfReplies, TestFailuresHaveTheirClass
//	truncation taken for success         TestMeaningOfReplies, TestWhoBrokeItOff; api: TestPrefixes
//	errors of Anthropic's                TestCasesOverTCP: anthropic_overloaded_midstream
//	no blank after "data:"               TestKnownMistakes
//	long lines                           TestKnownMistakes
//	comments read as JSON                TestCasesOverTCP: deepseek_keepalive; TestKnownMistakes
//	keep-alives that feed the watchdog   TestFailuresHaveTheirClass
//	choices empty or null                TestKnownMistakes; TestCasesOverTCP: azure_chat
//	characters cut in two                TestCasesOverTCP, byte by byte
//	U+2028 taken for a line end          TestKnownMistakes
//	CRLF, lone CR                        TestKnownMistakes
//	Gemini's shapes                      api, with its dialect
//	lines of JSON cut in two             TestKnownMistakes
//	compression, blocks                  TestGzipArrivesAsItIsFlushed
//	several events in one read           TestBurstOfOneRead
//	200 for any path                     TestFailuresHaveTheirClass; engine: its traps
//	names of the limit of tokens         TestTheLimitOfTokensIsSwapped
//	odd ends                             TestMeaningOfReplies
//	unknown fields refused               TestFieldsAreGivenUpOneByOne, TestRejectedFieldIsDropped
//	reads taken for events               TestAChunkOverTwoReadsHoldsNoEventBack
//	a proxy's time limit                 TestProxyTimer
//	overload that is said late           TestLateRefusal
func TestKnownMistakes(t *testing.T) {
	long := strings.Repeat("x", 70_000)
	for _, c := range []struct {
		name, api string
		writes    []string
		text      string
	}{
		{"no blank after data:", "chat", []string{strings.ReplaceAll(tok("a")+tok("b")+length+usage(2)+done, "data: ", "data:")}, "ab"},
		{"a line of 70 000 bytes", "chat", []string{tok(long), tok("b"), length, usage(2), done}, long + "b"},
		{"comments", "chat", []string{": OPENROUTER PROCESSING\n\n", role, ":\n\n", tok("a"), ": {\n\n", tok("b"), length, usage(2), done}, "ab"},
		{"choices: null", "chat", []string{delta(`"choices":null`), delta(`"choices":[]`), tok("a"), tok("b"), length, usage(2), done}, "ab"},
		{"U+2028 and U+0085 as they are", "chat", []string{tok("A"), "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\u2028b\u0085\"}}]}\n\n", length, usage(2), done}, "A\u2028b\u0085"},
		{"CRLF", "chat", []string{strings.ReplaceAll(tok("a")+tok("b"), "\n", "\r\n"), strings.ReplaceAll(length+usage(2)+done, "\n", "\r\n")}, "ab"},
		{"CRLF, cut in the middle", "chat", []string{strings.TrimRight(tok("a"), "\n") + "\r", "\n\r", "\n" + tok("b"), length, usage(2), done}, "ab"},
		{"lone CR", "chat", []string{strings.ReplaceAll(tok("a")+tok("b")+length+usage(2)+done, "\n", "\r")}, "ab"},
		{"half a line of JSON, and none at the end", "ollama", []string{
			`{"message":{"content":"a"},"do`, `ne":false}` + "\n" + `{"mess`, `age":{"content":"b"},"done":true,"done_reason":"length","eval_count":2}`,
		}, "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(_ int, conn net.Conn, _ *http.Request) bool {
				io.WriteString(conn, streamHead)
				say(conn, c.writes...)
				io.WriteString(conn, lastOne)
				return true
			})
			cfg := config(s.url, 1)
			cfg.Targets[0].API, cfg.Targets[0].Model = c.api, "tiny"
			all := watchUntil(t, cfg)
			e, tokens := only[*event.End](t, all), of[*event.Token](all)
			if e.Class != event.OKFull || e.N != 2 || len(tokens) != 2 {
				t.Errorf("%s %q, %d tokens in %d events", e.Class, e.Message, e.N, len(tokens))
			}
			var text strings.Builder
			for _, part := range of[*event.Text](all) {
				text.WriteString(part.Text)
			}
			if text.String() != c.text {
				t.Errorf("text %.40q of %d bytes, want %.40q of %d", text.String(), text.Len(), c.text, len(c.text))
			}
		})
	}
}

// Neither a role nor a comment nor a report of progress is the first token.
func TestWhatIsNoToken(t *testing.T) {
	const pause = 40 * time.Millisecond
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		io.WriteString(c, streamHead)
		for _, e := range []string{role, comment, delta(`"choices":[{"index":0,"delta":{"content":null}}],"prompt_progress":{"total":9,"processed":4}`)} {
			say(c, e)
			time.Sleep(pause)
		}
		say(c, tok("a"), tok("b"), length, usage(2), done)
		io.WriteString(c, lastOne)
		return true
	})
	all := watch(t, config(s.url, 1), nil)
	e, tokens := only[*event.End](t, all), of[*event.Token](all)
	if len(tokens) != 2 || e.Class != event.OKFull {
		t.Fatalf("%d tokens, end %+v", len(tokens), e)
	}
	if wait := time.Duration(tokens[0].At - e.FirstByte); wait < 2*pause {
		t.Errorf("the first token came %v after the first byte, and the server took %v", wait, 3*pause)
	}
}

// A server that refuses after long work on the prompt is overloaded, and how
// long it took to say so is known.
func TestLateRefusal(t *testing.T) {
	const work = 150 * time.Millisecond
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		time.Sleep(work)
		return nope(c, 503, `{"error":{"message":"too many waiting requests"}}`)
	})
	all := watchUntil(t, config(s.url, 1))
	e, start, head := only[*event.End](t, all), only[*event.Start](t, all), only[*event.Headers](t, all)
	if took := time.Duration(head.At - start.At); e.Class != event.ErrOverload || took < work-10*time.Millisecond {
		t.Errorf("%s after %v: %s", e.Class, took, e.Message)
	}
}
