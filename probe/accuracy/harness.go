package accuracy

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Options say how much is measured.
type Options struct {
	Rounds  int           // each client takes each load so often; the median counts
	For     time.Duration // how long a load streams
	Version string        // of teapot
	Log     io.Writer     // progress, a line each; nil for none
}

// scenario is a load by a transport that the clients take in turn.
type scenario struct {
	title string
	Transport
	load    Load
	burst   bool // what counts is the first token
	clients []string
}

// outcome is a client's results in a scenario, one a round, or why there is
// none.
type outcome struct {
	client string
	rounds []Result
	why    string
}

// scenarios are all of the loads. span is how long each streams.
func scenarios(span time.Duration) []scenario {
	tokens := func(beat time.Duration) int { return int(span / beat) }
	spread := 200 * time.Millisecond
	list := []scenario{
		{title: "1 stream, constant 1.6 ms", Transport: HTTP, load: Load{"constant", 1, tokens(usualBeat), spread}},
		{title: title8, Transport: HTTP, load: Load{"constant", 8, tokens(usualBeat), spread}},
		{title: titleLaw, Transport: HTTP, load: Load{"article", 64, tokens(3470 * time.Microsecond), spread}},
		{title: titleLock, Transport: HTTP, load: Load{"lockstep:10000", 64, tokens(10 * time.Millisecond), spread}},
		{title: "256 streams, constant 20 ms", Transport: HTTP, load: Load{"constant:20000", 256, tokens(20 * time.Millisecond), spread}},
		{title: titleOnce, Transport: HTTP, load: Load{"lockstep:10000", 64, 40, 0}, burst: true},
	}
	for _, tr := range []Transport{HTTPS, HTTP2, Unix} {
		list = append(list, scenario{title: "8 streams, constant 1.6 ms, " + string(tr), Transport: tr, load: Load{"constant", 8, tokens(usualBeat), spread}})
	}
	return list
}

// sweep are the loads that find the rate a client sustains.
func sweep(span time.Duration) []scenario {
	var list []scenario
	for _, beat := range []time.Duration{3200, 1600, 1067, 800, 640} {
		beat *= time.Microsecond
		rate := int(64 * time.Second / beat)
		list = append(list, scenario{
			title: fmt.Sprintf("64 streams, %d tok/s", rate), Transport: HTTP,
			load:    Load{fmt.Sprintf("constant:%d", beat.Microseconds()), 64, int(span / beat), 200 * time.Millisecond},
			clients: []string{probeName, nameCKernel, nameCUser, nameArrival, nameParsed},
		})
	}
	return list
}

// report is everything a run of the harness found.
type report struct {
	o       Options
	machine []string
	missing []string // clients that could not be had, and why
	main    []table
	sweep   []table
	netem   string // why there is no round trip of 40 ms; "" when there is
	lasted  time.Duration
}

// table is a scenario with its outcomes.
type table struct {
	scenario
	rows []outcome
}

// Run measures everything and writes the report, in Markdown, to out.
func Run(ctx context.Context, o Options, out io.Writer) error {
	began := time.Now()
	o.Rounds = max(o.Rounds, 1)
	if o.Log == nil {
		o.Log = io.Discard
	}
	dir, err := os.MkdirTemp("", "teapot-accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &report{o: o, machine: machine(), netem: netem(ctx)}
	clients := r.gather(ctx, dir)
	if r.main, err = r.all(ctx, clients, scenarios(o.For), o.Rounds); err != nil {
		return err
	}
	if r.sweep, err = r.all(ctx, clients, sweep(o.For), 1); err != nil {
		return err
	}
	r.lasted = time.Since(began)
	_, err = io.WriteString(out, r.markdown())
	return err
}

// gather makes the clients that this machine can run.
func (r *report) gather(ctx context.Context, dir string) []client {
	clients := []client{bare(), drawing()}
	if bin, err := buildC(ctx, dir); err != nil {
		r.missing = append(r.missing, "the C clients: "+err.Error())
	} else {
		clients = append(clients, inC(bin, nameCKernel, "kernel"), inC(bin, nameCUser, "user"))
	}
	if python, err := buildPython(ctx, dir); err != nil {
		r.missing = append(r.missing, "the Python clients: "+err.Error())
	} else {
		clients = append(clients, inPython(python, dir, nameParsed, "parsed"), inPython(python, dir, nameArrival, "arrival"))
	}
	return clients
}

// all takes every client through every scenario, in turn, round after round.
func (r *report) all(ctx context.Context, clients []client, list []scenario, rounds int) ([]table, error) {
	var out []table
	for _, s := range list {
		t := table{scenario: s}
		for _, c := range clients {
			if c.can(s.Transport) && (s.clients == nil || slices.Contains(s.clients, c.Name)) {
				t.rows = append(t.rows, outcome{client: c.Name})
			}
		}
		if err := r.take(ctx, clients, &t, rounds); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// take measures one scenario on a server of its own.
func (r *report) take(ctx context.Context, clients []client, t *table, rounds int) error {
	srv, err := startTarget(ctx, t.Transport)
	if err != nil {
		return err
	}
	defer srv.stop()
	for round := range rounds {
		for i := range t.rows {
			row := &t.rows[(i+round)%len(t.rows)] // nobody is always the first
			at := slices.IndexFunc(clients, func(c client) bool { return c.Name == row.client })
			res, err := measure(ctx, clients[at], srv, t.load)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				row.why = err.Error()
				fmt.Fprintf(r.o.Log, "%s: %s\n", t.title, row.why)
				continue
			}
			row.rounds = append(row.rounds, res)
			fmt.Fprintf(r.o.Log, "%s, round %d: %s: e99 %.0f µs, e99.9 %.0f µs, %d disowned\n", t.title, round+1, row.client,
				micros(rank(res.Errors, 0.99)), micros(rank(res.Errors, 0.999)), res.Disowned)
		}
	}
	return nil
}

// netem says why a round trip cannot be made longer here, "" if it can: in a
// network of our own, so that nothing else of the machine is touched.
func netem(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "unshare", "-n", "sh", "-c",
		"ip link set lo up && tc qdisc add dev lo root netem delay 20ms").CombinedOutput()
	if err == nil {
		return ""
	}
	if line := lastLine(string(out)); line != "" {
		return line
	}
	return err.Error()
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }
