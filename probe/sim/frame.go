package sim

import (
	"encoding/json"
	"strconv"
)

// headroom is kept free before an event for the length of its HTTP chunk: at
// most eight hexadecimal digits and a line end.
const headroom = 10

// channel is where a token stands in a chat reply.
type channel int

const (
	inAnswer channel = iota
	inReasoning
)

// framer writes the events of one reply as vLLM does, chunked transfer coding
// included. Everything that does not change between two tokens is prepared
// once, and the buffer is used again, so that a token costs no allocation.
type framer struct {
	chat     bool
	chunked  bool
	usage    bool // a last event with the counts
	every    bool // the counts in every event
	thinks   bool // the counts name reasoning tokens
	prompt   int
	head     []byte // `data: {"id":…,"model":…,"choices":[`
	buf      []byte
	thought  int
	complete int
}

// newFramer prepares the events of the reply called id. created is in seconds
// since 1970.
func newFramer(id, model string, created int64, q *request, chunked bool) *framer {
	object := "text_completion"
	if q.chat {
		object = "chat.completion.chunk"
	}
	name, _ := json.Marshal(model) // a string always marshals
	f := &framer{
		chat: q.chat, chunked: chunked, prompt: q.prompt,
		usage: q.usage, every: q.usage && q.everyUsage, thinks: q.reasoning > 0,
	}
	b := append(f.head, `data: {"id":"`...)
	b = append(b, replyID(q.chat, id)...)
	b = append(b, `","object":"`...)
	b = append(b, object...)
	b = append(b, `","created":`...)
	b = strconv.AppendInt(b, created, 10)
	b = append(b, `,"model":`...)
	b = append(b, name...)
	f.head = append(b, `,"choices":[`...)
	f.buf = make([]byte, 0, 1024)
	return f
}

func replyID(chat bool, id string) string {
	if chat {
		return "chatcmpl-" + id
	}
	return "cmpl-" + id
}

// begin starts a new write.
func (f *framer) begin() {
	f.buf = append(f.buf[:0], "0000000000"...) // the headroom
}

// role adds the event that only names the speaker, which chat replies begin with.
func (f *framer) role() {
	b := append(f.buf, f.head...)
	b = append(b, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	if f.every {
		b = f.counts(b)
	}
	f.buf = append(b, `,"prompt_token_ids":null}`+"\n\n"...)
}

// tokens adds the event of k tokens whose text is t, already escaped for JSON.
// finish is "" but for the last one.
func (f *framer) tokens(t []byte, k int, in channel, finish string) {
	f.complete += k
	if in == inReasoning {
		f.thought += k
	}
	b := append(f.buf, f.head...)
	switch {
	case !f.chat:
		b = append(b, `{"index":0,"text":"`...)
	case in == inReasoning:
		b = append(b, `{"index":0,"delta":{"reasoning_content":"`...)
	default:
		b = append(b, `{"index":0,"delta":{"content":"`...)
	}
	b = append(b, t...)
	b = append(b, '"')
	if f.chat {
		b = append(b, '}')
	}
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if finish == "" {
		b = append(b, `null`...)
	} else {
		b = append(b, '"')
		b = append(b, finish...)
		b = append(b, '"')
	}
	switch {
	case !f.chat:
		b = append(b, `,"stop_reason":null,"token_ids":null,"prompt_logprobs":null,"prompt_token_ids":null}]`...)
	case finish != "":
		b = append(b, `,"stop_reason":null,"token_ids":null}]`...)
	default:
		b = append(b, `,"token_ids":null}]`...)
	}
	switch {
	case f.every:
		b = f.counts(b)
	case !f.chat:
		b = append(b, `,"usage":null`...)
	}
	f.buf = append(b, "}\n\n"...)
}

// last adds what follows the last token: the counts if wanted, the terminal
// marker, and the end of the body.
func (f *framer) last() {
	b := f.buf
	if f.usage {
		b = append(b, f.head...)
		b = append(b, ']')
		b = f.counts(b)
		b = append(b, "}\n\n"...)
	}
	f.buf = append(b, "data: [DONE]\n\n"...)
}

// fail adds the event of an error that struck after the reply had begun, and
// the terminal marker that vLLM sends nevertheless.
func (f *framer) fail(message string) {
	text, _ := json.Marshal(message)
	b := append(f.buf, `data: {"error":{"message":`...)
	b = append(b, text...)
	b = append(b, `,"type":"InternalServerError","param":null,"code":500}}`+"\n\n"...)
	f.buf = append(b, "data: [DONE]\n\n"...)
}

// bytes ends the write and returns it, valid until the next begin. fin also
// ends the body.
func (f *framer) bytes(fin bool) []byte {
	if !f.chunked {
		return f.buf[headroom:]
	}
	size := len(f.buf) - headroom
	f.buf = append(f.buf, "\r\n"...)
	if fin {
		f.buf = append(f.buf, "0\r\n\r\n"...)
	}
	i := headroom - 2
	f.buf[i], f.buf[i+1] = '\r', '\n'
	for {
		i--
		f.buf[i] = "0123456789abcdef"[size&15]
		size >>= 4
		if size == 0 || i == 0 {
			return f.buf[i:]
		}
	}
}

// counts adds the usage so far.
func (f *framer) counts(b []byte) []byte {
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(f.prompt), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(f.prompt+f.complete), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(f.complete), 10)
	if f.thinks {
		b = append(b, `,"completion_tokens_details":{"reasoning_tokens":`...)
		b = strconv.AppendInt(b, int64(f.thought), 10)
		b = append(b, '}')
	}
	return append(b, '}')
}
