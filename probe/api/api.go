// Package api speaks the dialects of inference servers: what a streaming
// request looks like, which events of the reply are evidence of tokens, how
// many tokens there were, how the reply ended and what went wrong.
//
// A dialect is one file that implements [Dialect] and says what one event of it
// holds; everything that the dialects share (counting, finding errors, classing
// the end) lives beside them. The package opens no connection, reads no clock and stamps nothing: it
// is handed complete events and answers what they mean. It never fails on what
// a server sends; what it cannot make sense of becomes part of the [Result].
package api

import (
	"fmt"
	"net/http"
	"strings"

	"teapot/probe/event"
	"teapot/probe/sse"
)

// Ask is what one request asks for.
type Ask struct {
	Model     string
	Prompt    string
	MaxTokens int    // output tokens; at least 1
	Seed      uint64 // only its low 31 bits are sent: some engines have no room for more
	Engine    string // the detected engine, which decides what may be sent; "" when unknown
	// Cold asks the engine not to reuse the cache of an earlier prompt, where a
	// field can say so. The nonce at the front of the prompt is the caller's.
	Cold bool
	// Drop names the fields to leave out because the server rejected them, as
	// [RejectedField] and [Fallback] name them. "max_tokens" and
	// "max_completion_tokens" stand in for each other.
	Drop map[string]bool
}

// Part is what one event of the reply brought.
type Part struct {
	Evidence bool   // at least one token came with the event
	K        uint32 // how many; 0 when not known
	Channel  event.Channel
	Text     []byte // decoded, untrusted; valid until the next Decode and the next event
}

// Result is what a whole reply amounts to.
type Result struct {
	Class     event.Class
	Message   string // one clean line about a failure, "" for a success
	Code      int    // the code that the server's error carried, 0 for none
	Overload  bool   // the server's error says that it is too busy
	Finish    string // the server's finish reason, cleaned
	N         int    // output tokens
	Count     event.CountSource
	Prompt    int  // prompt tokens by the server's count, 0 when not said
	Cached    int  // of which came from a cache
	Reasoning int  // of N
	Hidden    bool // N counts reasoning that was not on the wire
	Flags     []event.Flag
	Server    *event.ServerTimings // nil when the server said nothing of its own work
	Model     string               // as the reply names it; untrusted
	Provider  string               // who served it, behind a gateway that says so; cleaned
}

// Decoder reads the events of one reply. It is not safe for concurrent use.
type Decoder interface {
	// Decode takes the next event and says in p what it brought. It keeps what
	// it learns of errors and of the end for Result.
	Decode(ev *sse.Event, p *Part)
	// Ended tells whether a terminal marker or an error has been seen, so that
	// the server owes nothing more. A finish reason alone is not the end: usage
	// may follow it.
	Ended() bool
	// Framed tells what the body turned out to be, once it has ended and before
	// Result. Without it the body is taken for a stream.
	Framed(f sse.Format)
	// Result classes the reply. asked is the number of output tokens asked for;
	// end is nil or io.EOF when the body ended as it should, else what broke it.
	Result(asked int, end error) Result
}

// Dialect is one way to talk to a server. Its methods may be called from
// several goroutines.
type Dialect interface {
	// Name is what the user calls it.
	Name() string
	// Endpoint is the whole URL of a request. base is that of the API, with its
	// /v1 (http://host:8000/v1) and without userinfo; a query that it has stays.
	// A dialect that is not spoken under /v1 finds its own root; one that has
	// the model in its path takes it from model.
	Endpoint(base, model string) string
	// Body is the request. It fails on an Ask that no server can serve.
	Body(Ask) ([]byte, error)
	// Auth sets the headers that carry the key to the server at base, unless
	// the caller has set one or there is no key, and the headers that the
	// dialect demands beside it. A key never goes into a URL.
	Auth(h http.Header, base, key string)
	NewDecoder() Decoder
}

// dialects lists every dialect, the default first.
func dialects() []Dialect {
	return []Dialect{
		chat{},
		completions{},
		responses{},
		anthropic{},
		ollamaChat{},
		ollamaGenerate{},
		llamacpp{},
		lmstudio{},
		sglang{},
		tgi{},
		triton{},
		gemini{},
		koboldcpp{},
	}
}

// ByName finds a dialect by its name.
func ByName(name string) (Dialect, error) {
	for _, d := range dialects() {
		if d.Name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("api %q is not known; there is %s", name, strings.Join(Names(), ", "))
}

// Names lists the dialects, the default first.
func Names() []string {
	var names []string
	for _, d := range dialects() {
		names = append(names, d.Name())
	}
	return names
}
