package signals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"teapot/probe/api"
	"teapot/probe/event"
)

const (
	maxPage  = 8 << 20         // bytes of one answer
	lookTime = 4 * time.Second // for one look, body included
)

// Config of a [Watcher].
type Config struct {
	Target uint32
	Source Source
	Model  string       // the one measured, where a page has several
	Table  *Table       // nil for [DefaultTable]
	Header http.Header  // of every request, if the source is the target's own
	Client *http.Client // nil for one of its own; never the one that measures
	Now    func() int64 // ns of the session's clock
	Wall   func() time.Time
}

// Cost is what watching has cost so far.
type Cost struct {
	Looks int
	Bytes int64         // of the answers
	Time  time.Duration // that the server took for them
}

// Absent says that there is nothing to be seen where one looked.
type Absent struct {
	Why string // one clean line
}

func (e *Absent) Error() string { return e.Why }

// Watcher looks at one source, again and again. It is not safe for concurrent
// use.
type Watcher struct {
	cfg    Config
	cost   Cost
	absent bool
	before state
	buffer bytes.Buffer // of the newest answer
}

// NewWatcher makes a watcher. It asks nothing yet. It fails on a source that is
// not one of those of [Sources].
func NewWatcher(cfg Config) (*Watcher, error) {
	if _, ok := readers()[cfg.Source.Name]; !ok {
		return nil, fmt.Errorf("signals: %q is no source that can be asked", cfg.Source.Name)
	}
	if cfg.Now == nil {
		return nil, errors.New("signals: no clock")
	}
	if cfg.Table == nil {
		cfg.Table = DefaultTable()
	}
	if cfg.Wall == nil {
		cfg.Wall = time.Now
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{
			Transport: &http.Transport{
				DialContext:        (&net.Dialer{Timeout: lookTime}).DialContext,
				DisableCompression: true, // it would be the server's work
				MaxIdleConns:       1,
				IdleConnTimeout:    90 * time.Second,
			},
			CheckRedirect: stay,
		}
	}
	return &Watcher{cfg: cfg}, nil
}

// stay follows a redirect only on the same server: vLLM sends /metrics to
// /metrics/, and a key must not travel.
func stay(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if len(via) > 3 || req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return http.ErrUseLastResponse
	}
	return nil
}

// Every is how long to wait until the next look.
func (w *Watcher) Every() time.Duration {
	if w.absent {
		return seldom
	}
	return w.cfg.Source.Every
}

// Cost is what the looks have cost so far.
func (w *Watcher) Cost() Cost { return w.cost }

// Close lets go of the connection.
func (w *Watcher) Close() { w.cfg.Client.CloseIdleConnections() }

// Poll looks once. The signal says when and how long it took also beside an
// error: an [*Absent] where there is nothing to see, which is worth saying
// once, or that of the transport, where the look itself failed and the wait for
// it is a sign. The signal's Detail is the error then.
func (w *Watcher) Poll(ctx context.Context) (event.Signal, error) {
	began := w.cfg.Now()
	body, header, err := w.fetch(ctx)
	now := w.cfg.Now()
	sig := event.Signal{
		At: now, Target: w.cfg.Target, Source: w.cfg.Source.Name,
		Took: max(now-began, 0), Age: max(now-began, 0), Bytes: len(body),
	}
	w.cost.Looks++
	w.cost.Bytes += int64(len(body))
	w.cost.Time += time.Duration(sig.Took)
	var figures []figure
	if err == nil {
		figures, err = readers()[w.cfg.Source.Name](w, body, header)
	}
	if err != nil {
		_, w.absent = errors.AsType[*Absent](err)
		sig.Detail = api.OneLine(err.Error())
		return sig, err
	}
	w.absent = false
	w.before.compare(&sig, figures)
	return sig, nil
}

// reader makes figures of an answer.
type reader func(w *Watcher, body []byte, h http.Header) ([]figure, error)

// readers are the sources that can be asked.
func readers() map[string]reader {
	return map[string]reader{
		event.SignalMetrics:    (*Watcher).readPage,
		event.SignalExporter:   (*Watcher).readPage,
		event.SignalSlots:      (*Watcher).readSlots,
		event.SignalLoaded:     (*Watcher).readLoaded,
		event.SignalPerf:       (*Watcher).readPerf,
		event.SignalIterations: (*Watcher).readIterations,
	}
}

// fetch gets the answer.
func (w *Watcher) fetch(ctx context.Context) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.cfg.Source.URL, nil)
	if err != nil {
		return nil, nil, &Absent{Why: "the address of the signals is no URL"}
	}
	if w.cfg.Source.Own {
		for name, values := range w.cfg.Header {
			req.Header[name] = append([]string(nil), values...)
		}
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4, application/json;q=0.9, */*;q=0.1")
	req.Header.Set("Accept-Encoding", "identity")
	resp, err := w.cfg.Client.Do(req)
	if err != nil {
		return nil, nil, w.failed(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	w.buffer.Reset()
	_, err = w.buffer.ReadFrom(io.LimitReader(resp.Body, maxPage+1))
	body := w.buffer.Bytes()
	switch {
	case err != nil:
		return body, nil, w.failed(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return body, nil, w.refused(resp, body)
	case len(body) > maxPage:
		return body[:maxPage], nil, &Absent{Why: fmt.Sprintf("%s: longer than %d MiB, not read", w.where(), maxPage>>20)}
	}
	return body, resp.Header, nil
}

// failed is an error of the transport, without the URL that may hold userinfo.
func (w *Watcher) failed(ctx context.Context, err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if ctx.Err() == context.DeadlineExceeded {
		return fmt.Errorf("%s: no answer within %v: %w", w.where(), lookTime, context.DeadlineExceeded)
	}
	return fmt.Errorf("%s: %w", w.where(), err)
}

// refused is what a status other than 200 means. One that may pass is no sign
// that there is nothing.
func (w *Watcher) refused(resp *http.Response, body []byte) error {
	_, message, _ := api.HTTPError(resp.StatusCode, resp.Header, body)
	line := api.OneLine(fmt.Sprintf("%s answers %d: %s", w.where(), resp.StatusCode, message))
	if resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented || resp.StatusCode == http.StatusTooManyRequests {
		return errors.New(line)
	}
	if w.cfg.Source.Name == event.SignalMetrics {
		line += "; is the server started with its metrics on?"
	}
	return &Absent{Why: line}
}

// where is the place as it may be shown.
func (w *Watcher) where() string {
	if u, err := url.Parse(w.cfg.Source.URL); err == nil && u.Path != "" {
		return u.Path
	}
	return w.cfg.Source.Name
}
