package format

import "teapot/stats"

// Quantile writes one percentile with the marks of the sample rule, its value
// by write (MS, MSFine, ...): None where too few samples make it exist, "~"
// behind it where they are too few to trust it, and ">" before it where it lies
// among the timeouts and is only a lower bound.
func Quantile(q stats.Quantile, write func(ns int64) string) string {
	if q.Mark == stats.MarkNone {
		return None
	}
	s := write(q.Value)
	if s == None {
		return None
	}
	if q.Censored {
		s = ">" + s
	}
	if q.Mark == stats.MarkApprox {
		s += "~"
	}
	return s
}

// Max writes the largest sample of a figure by write; None for no samples, and
// with ">" before it where the largest samples are timeouts.
func Max(f *stats.Figure, write func(ns int64) string) string {
	if f.N == 0 {
		return None
	}
	s := write(f.Max)
	if f.Censored > 0 && s != None {
		s = ">" + s
	}
	return s
}

// Mean writes the mean of a figure by write; None for no samples. With
// timeouts among them the mean is a lower bound and says so.
func Mean(f *stats.Figure, write func(ns int64) string) string {
	if f.N == 0 || !finite(f.Mean) || f.Mean < 0 || f.Mean > 1e18 {
		return None
	}
	s := write(int64(f.Mean + 0.5))
	if f.Censored > 0 && s != None {
		s = ">" + s
	}
	return s
}

// Edge writes a value of which only the bucket is known: "≤300" up to its upper
// edge, ">60000" beyond the last one, whose edge it then holds with a minus. 0 is
// None.
func Edge(ns int64, write func(ns int64) string) string {
	switch {
	case ns > 0:
		return "≤" + write(ns)
	case ns < 0:
		return ">" + write(-ns)
	}
	return None
}
