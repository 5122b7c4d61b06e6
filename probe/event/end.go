package event

import "slices"

// Class is how a request ended. The strings are those of the report's by_class.
type Class string

// The classes. The first three are successes; Aborted and Warmup count neither
// way; everything else is a failure.
const (
	OKFull          Class = "ok_full"           // a length reason, and as many tokens as asked
	OKShort         Class = "ok_short"          // a terminal reason before that: fine, but not of the fixed length
	OKLong          Class = "ok_long"           // a terminal reason, and more tokens than asked: the limit was not heeded
	OKUnknownReason Class = "ok_unknown_reason" // the protocol names no reason, or N is unknown; the end was clean
	Aborted         Class = "client_abort"      // we ended it: the run was over or the operator quit

	ErrDNS         Class = "dns"             // the host name does not resolve
	ErrRefused     Class = "connect_refused" // nothing listens
	ErrConnect     Class = "connect"         // any other failure to connect
	ErrConnectTime Class = "timeout_connect" // the connect limit passed
	ErrTLS         Class = "tls"             // the handshake or the certificate
	ErrAuth        Class = "http_auth"       // 401, 403
	ErrModel       Class = "http_not_found"  // 404: path or model
	ErrParam       Class = "http_param"      // 400, 405, 413, 415, 422
	ErrRate        Class = "http_rate"       // 429
	ErrLoading     Class = "http_loading"    // 503 while the model is loaded
	ErrOverload    Class = "http_overload"   // 503 otherwise, 529
	ErrHTTP        Class = "http_other"      // any other status that is not 2xx
	ErrBody200     Class = "error_body_200"  // 200 with a JSON error for a body
	ErrNotStream   Class = "not_a_stream"    // 200 with HTML or anything else that is no stream
	ErrStream      Class = "error_stream"    // an error event after the stream began
	ErrLimit       Class = "parser_limit"    // an event longer than the stated cap
	ErrDecode      Class = "undecodable"     // three events in a row made no sense
	ErrTruncated   Class = "truncated"       // the end came without a terminal reason
	ErrEmpty       Class = "empty"           // a terminal marker, and not one token
	ErrFirst       Class = "timeout_first"   // no token within the first-token limit
	ErrIdle        Class = "stalled"         // no token within the idle limit
	ErrTotal       Class = "timeout_total"   // the whole-request limit passed
	ErrReset       Class = "reset"           // the connection broke before the headers
)

// OK tells whether the class is a success.
func (c Class) OK() bool { return c == OKFull || c == OKShort || c == OKLong || c == OKUnknownReason }

// Failed tells whether the class counts as a failure: a miss for goodput.
func (c Class) Failed() bool { return c != "" && !c.OK() && c != Aborted }

// Censored tells whether the class is a timeout: the sample is known only to
// be at least the limit.
func (c Class) Censored() bool { return c == ErrFirst || c == ErrIdle || c == ErrTotal }

// CountSource says who counted the output tokens of a request, best first.
type CountSource string

// The sources of N.
const (
	CountUsage   CountSource = "usage"
	CountRunning CountSource = "continuous usage"
	CountTimings CountSource = "server timings"
	CountEvents  CountSource = "events" // approximate: one event may hold several tokens
)

// End closes a request.
type End struct {
	At      int64  `json:"at"` // body closed
	Target  uint32 `json:"target"`
	Request uint64 `json:"req"`
	Slot    uint32 `json:"slot"`
	Warmup  bool   `json:"warmup,omitempty"`
	Class   Class  `json:"class"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"` // one line, sanitised, without secrets
	Finish  string `json:"finish,omitempty"`  // the server's finish reason

	// Limit is the timeout that fired, ns, for the classes that are Censored:
	// the sample is at least this. First-token: since sent. Idle: since the
	// last token. Total: since sent.
	Limit int64 `json:"limit,omitempty"`

	N         int         `json:"n"` // output tokens, by Count
	Count     CountSource `json:"count,omitempty"`
	Prompt    int         `json:"prompt,omitempty"` // prompt tokens as the server counted them
	Cached    int         `json:"cached,omitempty"`
	Reasoning int         `json:"reasoning,omitempty"`
	// HiddenReasoning: N counts reasoning tokens that were not on the wire.
	HiddenReasoning bool `json:"hidden,omitempty"`

	FirstByte  int64          `json:"first_byte,omitempty"`  // stamp of the first body byte
	RetryAfter int64          `json:"retry_after,omitempty"` // ns the server asked us to wait
	Provider   string         `json:"provider,omitempty"`    // who served it, behind a gateway that says so
	Flags      []Flag         `json:"flags,omitempty"`
	Server     *ServerTimings `json:"server,omitempty"`
}

// Flag is something odd that was noticed on a stream and did not fail it.
type Flag string

// The flags.
const (
	FlagCounterBack   Flag = "counter_went_back"
	FlagNoTerminator  Flag = "missing_terminator" // the last event lacked its blank line
	FlagNoBlankLine   Flag = "missing_blank_line" // events were separated by one line end
	FlagAfterEnd      Flag = "tokens_after_end"
	FlagCompressed    Flag = "compressed" // Content-Encoding was set though not asked for
	FlagRetried       Flag = "stale_connection_retried"
	FlagOtherModel    Flag = "other_model" // the reply names another model
	FlagUndecodable   Flag = "undecodable_event"
	FlagSentAgain     Flag = "sent_again"    // this try says nothing of the server, counts neither way, and was repeated
	FlagFieldDropped  Flag = "field_dropped" // a request field the server rejects was left out
	FlagSeveralChoice Flag = "several_choices"
)

// ServerTimings is what the server said of its own work, where the wire has it.
// Times in ns; 0 when not said.
type ServerTimings struct {
	PromptN int   `json:"prompt_n,omitempty"`
	Prompt  int64 `json:"prompt_ns,omitempty"`
	DecodeN int   `json:"decode_n,omitempty"`
	Decode  int64 `json:"decode_ns,omitempty"` // from the first token to the last
	Queue   int64 `json:"queue_ns,omitempty"`  // waiting before the prompt was worked on

	Load     int64 `json:"load_ns,omitempty"`      // loading the model
	Total    int64 `json:"total_ns,omitempty"`     // the whole request by the server's clock
	PerToken int64 `json:"per_token_ns,omitempty"` // per output token, by the server's own rule
	Replied  int64 `json:"replied_ns,omitempty"`   // until it began its reply, which is the first token on some

	// Speculative decoding: tokens proposed, and those of them that were kept.
	Drafted  int `json:"drafted,omitempty"`
	Accepted int `json:"accepted,omitempty"`

	// Retracted is how often the server took the request out of its batch and
	// put it back in the queue, to make room for others: SGLang's
	// num_retractions. It proves that a gap of this request was one.
	Retracted int `json:"retracted,omitempty"`
}

// SentAgain tells whether this was a try that was repeated under another
// number: it counts neither way and appears in no list.
func (e *End) SentAgain() bool { return slices.Contains(e.Flags, FlagSentAgain) }
