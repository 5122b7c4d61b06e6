// Package probe asks model endpoints for tokens and stamps what comes back.
//
// It is the process that measures: it opens the connections, keeps the pace of
// the load, reads the streams, and writes everything that happened as one
// ordered stream of events. It waits for nobody but its sockets: a reader that
// stops reading costs events, which are counted, and never a stamp.
//
// It computes no percentile and draws nothing; it must not import stats or ui.
// Its rooms do the parts: stamp the arrival times, http1 the answers, sse the
// framing, api the dialects, engine the detection, record the bytes of the
// events.
package probe
