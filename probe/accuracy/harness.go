package accuracy

import (
	"context"
	"fmt"
	"io"
	"os"
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

// outcome is a client's results in a scenario, one a round, or why there is
// none.
type outcome struct {
	client string
	rounds []Result
	why    string
}

// report is everything a run of the harness found.
type report struct {
	o       Options
	machine []string
	missing []string // clients that could not be had, and why
	main    []table
	sweep   []table
	began   time.Time
	lasted  time.Duration
	others  float64 // cores that other programs took meanwhile
}

// table is a scenario with its outcomes.
type table struct {
	scenario
	note string // how the server was reached, where that is unusual
	why  string // why there was no server
	rows []outcome
}

// Run measures everything and writes the report, in Markdown, to out. It needs
// the scheduled server as the command "accuracy --serve" of the running program,
// and its commands "probe" and "watch".
func Run(ctx context.Context, o Options, out io.Writer) error {
	o.Rounds = max(o.Rounds, 1)
	if o.Log == nil {
		o.Log = io.Discard
	}
	dir, err := os.MkdirTemp("", "teapot-accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &report{o: o, machine: machine(), began: time.Now()}
	all, ours := busy()
	clients := r.gather(ctx, dir)
	usual, rising := scenarios(o.For), sweep(o.For)
	fmt.Fprintf(o.Log, "%d clients; this takes about %v\n", len(clients),
		(takes(usual, clients, o.Rounds) + takes(rising, clients, o.Rounds)).Round(10*time.Second))
	if r.main, err = r.all(ctx, clients, usual, o.Rounds); err != nil {
		return err
	}
	if r.sweep, err = r.all(ctx, clients, rising, o.Rounds); err != nil {
		return err
	}
	r.lasted = time.Since(r.began)
	allNow, oursNow := busy()
	r.others = max(float64((allNow-all)-(oursNow-ours))/float64(r.lasted), 0)
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
			if s.asks(c) {
				t.rows = append(t.rows, outcome{client: c.Name})
			}
		}
		r.take(ctx, clients, &t, rounds)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, t)
	}
	return out, nil
}

// take measures one scenario on a server of its own.
func (r *report) take(ctx context.Context, clients []client, t *table, rounds int) {
	srv, err := startTarget(ctx, t.Transport)
	if err != nil {
		t.why = err.Error()
		return
	}
	defer srv.stop()
	t.note = srv.note
	for round := range rounds {
		for i := range t.rows {
			row := &t.rows[(i+round)%len(t.rows)] // nobody is always the first
			at := slices.IndexFunc(clients, func(c client) bool { return c.Name == row.client })
			res, err := measure(ctx, clients[at], srv, t.load)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				row.why = err.Error()
				fmt.Fprintf(r.o.Log, "%s: %s: %s\n", t.title, row.client, row.why)
				continue
			}
			row.rounds = append(row.rounds, res)
			fmt.Fprintf(r.o.Log, "%s, round %d: %s: e99 %.0f µs, e99.9 %.0f µs, %d disowned\n", t.title, round+1, row.client,
				micros(rank(res.Errors, 0.99)), micros(rank(res.Errors, 0.999)), res.Disowned)
		}
	}
}

func micros(ns int64) float64 { return float64(ns) / 1e3 }
