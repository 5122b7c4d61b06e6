package stats

import "fmt"

// The advice: what is worth work and what is not, for a person who reads.

func adviseMean(r *tailRead) string {
	fast := r.pace() >= comfortable*fastReader
	switch {
	case r.skew() >= skewed && fast:
		return "The mean is not worth optimising: typical tokens outrun any reader, and the mean moves with the tail."
	case r.skew() >= skewed:
		return "The mean moves with the tail: work on the tail moves it, work on the typical step shows in the median."
	case fast:
		return "The typical token outruns any reader: a faster one would not be noticed."
	}
	return "The typical token is what a reader waits for: the median is worth work."
}

func adviseTail(r *tailRead) string {
	if r.q(P99).Censored || r.q(P99).Value > frame24 {
		return "P99 is where work shows: one in a hundred is seen."
	}
	return "P99 needs no work for a reader's sake."
}

func adviseRare(r *tailRead) string {
	v, name := r.rarest()
	switch {
	case r.has(P99) && r.inMedians(v) < tailApart:
		return fmt.Sprintf("There is no rare tail: %s is %s the median.", name, times(r.inMedians(v)))
	case v > blinkEnd:
		return "The rare tail is worth finding the cause of: it stops the text visibly."
	case name != quantileNames[P9999]:
		return "The rare tail is not known yet: P99.99 takes 10000 samples to exist and 100000 to be trusted."
	case v >= instant:
		return "Only a strict SLO makes the rare tail worth work: one in ten thousand is a hitch that few will notice."
	}
	return "The rare tail needs no work for a reader's sake."
}

func adviseSLO(r *tailRead) string {
	var missed []string
	for _, s := range r.f.SLO {
		if !s.OK && !s.NoData {
			missed = append(missed, fmt.Sprintf("%s (%s)", s.Expr, per100(s.Attained)))
		}
	}
	if len(missed) == 0 {
		return ""
	}
	return fmt.Sprintf("Not met: %s. That comes before any of the above.", list(missed))
}
