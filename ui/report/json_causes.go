package report

import "teapot/stats"

// cause is one row of the table of causes.
type cause struct {
	Cause   *string  `json:"cause"`   // null: unexplained
	Verdict string   `json:"verdict"` // the surest of the row: proven, likely, ours, transport or unexplained
	Spikes  uint64   `json:"spikes"`
	Total   float64  `json:"total_ms"`
	By      verdicts `json:"by_verdict"`
	Worst   spike    `json:"worst"`
	Advice  *string  `json:"advice"`
}

type verdicts struct {
	Proven      uint64 `json:"proven"`
	Likely      uint64 `json:"likely"`
	Ours        uint64 `json:"ours"`
	Transport   uint64 `json:"transport"`
	Unexplained uint64 `json:"unexplained"`
}

func newCauses(t *stats.Target) []cause {
	out := []cause{}
	for i := range t.Causes {
		c := &t.Causes[i]
		out = append(out, cause{
			Cause: str(string(c.Cause)), Verdict: c.Verdict().String(), Spikes: c.Count, Total: ms(c.Total),
			By:    verdicts{c.By[stats.Proven], c.By[stats.Likely], c.By[stats.Ours], c.By[stats.Transport], c.By[stats.Unexplained]},
			Worst: newSpike(&c.Worst), Advice: str(c.Advice),
		})
	}
	return out
}

// why is the verdict on a spike.
type why struct {
	Verdict  string   `json:"verdict"`
	Cause    *string  `json:"cause"` // null: unexplained
	Rule     *string  `json:"rule"`
	Evidence []string `json:"evidence"`
	Settled  bool     `json:"settled"`
	Revised  int      `json:"revised"`
}

func newSpike(w *stats.Spike) spike {
	j := spike{
		AtS: seconds(w.At), Length: ms(w.Length), Request: w.Request, Token: w.Token, First: w.First, Merged: w.Merged,
		Peers: w.Peers, Transport: w.Transport, Phase: w.Phase.String(),
	}
	if w.Why != nil {
		j.Why = &why{
			Verdict: w.Why.Verdict.String(), Cause: str(string(w.Why.Cause)), Rule: str(w.Why.Rule), Evidence: []string{},
			Settled: w.Why.Settled, Revised: w.Why.Revised,
		}
		for _, e := range w.Why.Evidence {
			j.Why.Evidence = append(j.Why.Evidence, clean(e))
		}
	}
	return j
}

// server is what the server says of itself.
type server struct {
	Restarts int            `json:"restarts"`
	TTFT     serverFigure   `json:"ttft"`
	ITL      serverFigure   `json:"itl"`
	TPOT     serverFigure   `json:"tpot"`
	Queue    serverFigure   `json:"queue"`
	Prefill  serverFigure   `json:"prefill"`
	E2E      serverFigure   `json:"e2e"`
	Values   []serverValue  `json:"values"` // the newest of each name
	Missing  []string       `json:"missing"`
	Sources  []serverSource `json:"sources"`
}

// serverFigure is the growth of one of its histograms.
type serverFigure struct {
	N          *float64 `json:"n"` // of the newest growth
	P50        *float64 `json:"p50"`
	P99        *float64 `json:"p99"`
	Mean       *float64 `json:"mean"`
	MinuteN    *float64 `json:"minute_n"`
	MinuteMean *float64 `json:"minute_mean"`
	AllN       *float64 `json:"all_n"` // of the run
	AllMean    *float64 `json:"all_mean"`
	AllP50     *float64 `json:"all_p50"`
	AllP99     *float64 `json:"all_p99"`
	// The upper edge of a bucket, or, beyond, the last edge that there is.
	P50Beyond bool `json:"all_p50_beyond"`
	P99Beyond bool `json:"all_p99_beyond"`
}

type serverValue struct {
	Name  string   `json:"name"`
	Of    *string  `json:"of"`
	Value *float64 `json:"value"` // seconds, bytes, tokens, requests or a share
	AtS   float64  `json:"at_s"`
	AgeS  float64  `json:"age_s"` // how old it was by then, at most
	Max   *float64 `json:"max"`   // of the run
	Grown *float64 `json:"grown"` // in the run, of what only counts up
}

// serverSource is one place that was asked, and what asking cost.
type serverSource struct {
	Name   string  `json:"name"`
	Looks  uint64  `json:"looks"`
	Bytes  uint64  `json:"bytes"`
	Took   float64 `json:"took_ms"`
	Detail *string `json:"detail"`
	Effect *string `json:"effect"` // of asking, on the server or on others
	// Of the last minute.
	MinuteLooks uint64 `json:"minute_looks"`
	MinuteBytes uint64 `json:"minute_bytes"`
}

func newServer(v *stats.Server) *server {
	if v == nil {
		return nil
	}
	one := func(f *stats.ServerFigure) serverFigure {
		return serverFigure{
			N: num(f.N, f.N > 0), P50: num(ms(f.P50), f.P50 > 0), P99: num(ms(f.P99), f.P99 > 0), Mean: num(ms(f.Mean), f.N > 0),
			MinuteN: num(f.MinuteN, f.MinuteN > 0), MinuteMean: num(ms(f.MinuteMean), f.MinuteN > 0),
			AllN: num(f.AllN, f.AllN > 0), AllMean: num(ms(f.AllMean), f.AllN > 0),
			AllP50: num(ms(max(f.AllP50, -f.AllP50)), f.AllP50 != 0), AllP99: num(ms(max(f.AllP99, -f.AllP99)), f.AllP99 != 0),
			P50Beyond: f.AllP50 < 0, P99Beyond: f.AllP99 < 0,
		}
	}
	j := &server{
		Restarts: v.Restarts, TTFT: one(&v.TTFT), ITL: one(&v.ITL), TPOT: one(&v.TPOT), Queue: one(&v.Queue), Prefill: one(&v.Prefill), E2E: one(&v.E2E),
		Values: []serverValue{}, Missing: []string{}, Sources: []serverSource{},
	}
	for i := range v.Values {
		x := &v.Values[i]
		j.Values = append(j.Values, serverValue{clean(x.Name), str(x.Of), num(x.Value, true), seconds(x.At), seconds(x.Age), num(x.Max, true), num(x.Grown, x.Grown > 0)})
	}
	for _, m := range v.Missing {
		j.Missing = append(j.Missing, clean(m))
	}
	for i := range v.Sources {
		x := &v.Sources[i]
		j.Sources = append(j.Sources, serverSource{
			Name: clean(x.Name), Looks: x.Looks, Bytes: x.Bytes, Took: ms(x.TookSum), Detail: str(x.Detail), Effect: str(x.Effect),
			MinuteLooks: x.MinuteLooks, MinuteBytes: x.MinuteBytes,
		})
	}
	return j
}
