package report

import "teapot/stats"

// The figures of the JSON report.

type figures struct {
	TTFT figure `json:"ttft"`
	TTFO figure `json:"ttfo"`
	Gap  figure `json:"gap"`
	ITL  figure `json:"itl"`
	TPOT figure `json:"tpot"`
	E2E  figure `json:"e2e"`
}

type scheduled struct {
	TTFT figure `json:"ttft"`
	E2E  figure `json:"e2e"`
	Late figure `json:"late"`
}

type figure struct {
	N        uint64    `json:"n"`
	Min      *float64  `json:"min"`
	Mean     *float64  `json:"mean"`
	P50      *float64  `json:"p50"`
	P90      *float64  `json:"p90"`
	P95      *float64  `json:"p95"`
	P99      *float64  `json:"p99"`
	P999     *float64  `json:"p99.9"`
	P9999    *float64  `json:"p99.99"`
	Max      *float64  `json:"max"`
	CI       intervals `json:"ci"`
	MeanErr  *float64  `json:"mean_err"` // standard error of the mean, from how it wobbled through the run; null: not known
	Spread   spreads   `json:"spread"`
	Approx   []string  `json:"approx"`   // percentiles from few samples, shown with ~
	AtLeast  []string  `json:"at_least"` // percentiles among the timeouts: lower bounds
	Ours     []string  `json:"ours"`     // percentiles of which this client's own part is a tenth or more
	Censored uint64    `json:"censored"`
	Clipped  uint64    `json:"clipped"`
}

// intervals are 95 % confidence intervals, [low, high]; high is null where
// there is no finite bound below the maximum, the whole where the percentile
// does not exist.
type intervals struct {
	P50   []*float64 `json:"p50"`
	P90   []*float64 `json:"p90"`
	P95   []*float64 `json:"p95"`
	P99   []*float64 `json:"p99"`
	P999  []*float64 `json:"p99.9"`
	P9999 []*float64 `json:"p99.99"`
}

// spreads are the design effects of the percentiles: how many times the variance
// of independent samples theirs is; ci counts the samples as independent. null:
// the run was too short to tell, or is not over.
type spreads struct {
	P50   *float64 `json:"p50"`
	P90   *float64 `json:"p90"`
	P95   *float64 `json:"p95"`
	P99   *float64 `json:"p99"`
	P999  *float64 `json:"p99.9"`
	P9999 *float64 `json:"p99.99"`
}

// values are the places of the percentiles, in the order of stats.Quantiles.
func (f *figure) values() [len(stats.Quantiles)]**float64 {
	return [...]**float64{&f.P50, &f.P90, &f.P95, &f.P99, &f.P999, &f.P9999}
}

// ranges are those of their intervals.
func (c *intervals) ranges() [len(stats.Quantiles)]*[]*float64 {
	return [...]*[]*float64{&c.P50, &c.P90, &c.P95, &c.P99, &c.P999, &c.P9999}
}

func (s *spreads) places() [len(stats.Quantiles)]**float64 {
	return [...]**float64{&s.P50, &s.P90, &s.P95, &s.P99, &s.P999, &s.P9999}
}
