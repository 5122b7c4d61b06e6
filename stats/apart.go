package stats

// apart keeps a gap out of every figure that is neither the server's nor this
// client's: the transport's, drawn hollow and counted, or a time in which the
// probe was not running, which is no gap at all but for the sums.
func (t *target) apart(l *life, a arrival, to [2]*tally) {
	if a.paused {
		for _, y := range to {
			y.merged++
			y.mergedSum += a.gap
		}
		if a.gap >= stallFrame {
			t.spiked(l, a.at-a.gap, Spike{At: a.at, Length: a.gap, Token: a.event, Merged: true, Of: t.receiving()}, true)
		}
		return
	}
	l.transportSum += a.gap
	for _, y := range to {
		y.transport++
		y.transportSum += a.gap
		y.transportLongest = max(y.transportLongest, a.gap)
	}
	if c := t.series.At(a.at); c != nil {
		c.Ours.Add(a.gap)
		c.Transport++
	}
	if i := l.cell(a.event); i >= 0 {
		l.cells.edit(i).Transport = true
	}
	l.trace.flag(a.event, traceTransport)
	t.spiked(l, a.at-a.gap, Spike{At: a.at, Length: a.gap, Token: a.event, Transport: true, Of: t.receiving()}, false)
}

// follow listens for a shift of level in one gap of the server's.
func (t *target) follow(l *life, a arrival) {
	if !t.level.hears(l.start.Request, a.at) {
		return
	}
	s, ok := t.level.add(a.at, a.gap)
	if !ok {
		return
	}
	t.shifts.add(s)
	t.lane.put(s.At, LaneShift, t.info.ID, "gaps "+times(s.Ratio)+": "+span(s.From)+" → "+span(s.To))
}

// setAside keeps a gap of our own making out of every percentile, and in sums.
func (t *target) setAside(a arrival, to [2]*tally) {
	for _, y := range to {
		y.merged++
		y.mergedSum += a.gap
	}
	if c := t.series.At(a.at); c != nil {
		c.Ours.Add(a.gap)
	}
}
