// Package sim is the built-in engine: a real HTTP server that speaks the API
// of an inference server and computes nothing. It is what `teapot demo` shows,
// what others can point their own tools at, and what the figures of teapot are
// checked against, because it can say when it really wrote each token and why.
//
// It is a leaf: it imports nothing else of teapot, opens no connection, and
// listens only where its caller says. It sets nothing that belongs to the
// process; its caller tunes the garbage collector if it wants to.
//
// # The API
//
// POST /v1/chat/completions and /v1/completions, streamed or whole, in the
// shape vLLM gives them, with usage and continuous usage when asked for;
// max_tokens, max_completion_tokens, min_tokens, ignore_eos and seed count.
// GET /v1/models (owned_by "teapot"), /health, /version, and /metrics under
// vLLM's names. A request whose client goes away ends at once. Prompt tokens
// are estimated from words and bytes. A reply is words of a short text, about a
// word to a token; which words depends on the seeds and on the request, so that
// the same request gets the same reply.
//
// # Two ways to give out tokens
//
// Every profile but one has a decode loop with continuous batching. A step
// serves all running requests and lasts base + per sequence × sequences + per
// prompt token × prompt tokens, with noise on it. Prompts are computed in
// chunks within the steps' budget, or whole. Keys and values live in blocks of
// 16 tokens; when these run out the youngest request loses its own, goes to the
// front of the queue, and is computed again later. Steps follow each other on
// absolute time.
//
// In the profile "article" every stream has a clock of its own, and all streams
// draw their gaps from one stratified sequence, see Law and ArticleLaw. There
// is no batch, no prefill and no fault in it.
//
// The decode loop has a thread to itself and writes to the sockets directly,
// without ever waiting for a client. What the kernel does not take at once is
// left to a goroutine of that connection; when 64 KiB wait for one client its
// tokens are kept back and leave together later, several to an event.
//
// # Profiles
//
//	tour           every cause of a stutter in rotation, a new one every 10 to 20 s, starting
//	               5 s after the first request; on a base of 70 tok/s a stream
//	smooth         the same base, and nothing ever happens
//	article        the law: median 1.60, P90 7.2157, P99 12.88, P99.99 120.22, mean 3.470 ms
//	lockstep       one step every 5 ms exactly; all streams are written in it
//	spec           speculative decoding: one to four tokens an event, with the running count
//	reasoning      the first third of a chat reply is reasoning_content
//	prefill        a neighbour's prompt of 7000 tokens, in chunks of 2048: four gaps of some 100 ms
//	prefill-whole  the same at once: one gap of some 400 ms
//	preemption     neighbours take every KV block: the youngest request stands still for up to half
//	               a second and is computed again
//	gc             the whole process, HTTP included, stops for 80 to 300 ms
//	burst          the network holds all events for 90 to 220 ms and delivers them in one piece
//	slow-client    one client takes nothing for 0.3 to 0.7 s, then all of it in one piece
//	stall          one stream alone gets nothing for 0.4 to 1.2 s
//	error          a reply ends in an error event and [DONE]
//	truncate       a reply ends without a finish reason, a terminal marker or the last chunk
//	overload       new requests get 503 or 429 with Retry-After for 4 to 5 s
//	restart        streams are reset, connections refused for about 2 s, then 503 "Loading model"
//	               for 2 s; counters start again
//
// The single faults come 3 s after the first request and then about every 5 s
// (overload 12, restart 15). A fault waits for a request that is under way, so
// that it can be seen.
//
// # The truth log
//
// Options.Truth gets lines of JSON, in order of writing and not of time, all
// times in nanoseconds on one monotonic clock (CLOCK_MONOTONIC on Linux):
//
//	{"truth":1,"clock":…,"now":…,"wall":…,"profile":…,"seed":…}   once; now and wall (Unix) are one instant
//	{"req":ID,"received":T,"prompt":N,"asked":N,"stream":true}     a request was read
//	{"req":ID,"i":I,"k":K,"sched":T,"before":T,"t":T}             token I and K−1 more were written: when the
//	                                                              schedule wanted it, and the clock just before and
//	                                                              just after the write to the socket
//	{"req":ID,"end":T,"n":N,"why":W}                              length, stop, abort, error, truncate, restart,
//	                                                              refused
//	{"fault":F,"cause":C,"start":T,"end":T,"reqs":[ID…]}          what went wrong on purpose, and for whom; "cut" when
//	                                                              the run ended first
//	{"lost":N}                                                    so many tokens were not noted: the log's writer is
//	                                                              too slow
//
// ID is the request's X-Request-Id when it has a harmless one. The first token
// of a chat reply shares its write with the event that names the role, the last
// one with the usage event, the terminal marker and the end of the body.
package sim
