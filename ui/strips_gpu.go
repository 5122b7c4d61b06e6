package ui

import (
	"slices"
	"strconv"
	"strings"

	"teapot/stats"
)

// mostGPUs is how many GPUs get strips.
const mostGPUs = 4

// gpusOf are the GPUs that say how busy they are.
func gpusOf(s *stats.Snapshot, t *stats.Target) []string {
	var out []string
	for _, from := range [...]*stats.Server{t.Server, s.Machine} {
		if from == nil {
			continue
		}
		for i := range from.Values {
			if v := &from.Values[i]; v.Name == "gpu.util" && len(out) < mostGPUs && !slices.Contains(out, v.Of) {
				out = append(out, v.Of)
			}
		}
	}
	return out
}

// gpuName is what a GPU is called in a strip's label.
func gpuName(of string) string { return cut(label(of), 2) }

// gpuStrips are those of the GPUs beside how busy they are, for where there is
// room: what holds them back first.
func gpuStrips(s *stats.Snapshot, t *stats.Target) []strip {
	var out []strip
	for _, st := range [...]strip{
		{"gpu.throttle", "", "slw", stripSlow}, {"gpu.clock", "", "MHz", stripOf}, {"gpu.power", "", "pow", stripOf},
		{"gpu.temp", "", "tmp", stripOf}, {"gpu.mem_used", "", "mem", stripOf},
	} {
		for _, of := range gpusOf(s, t) {
			one := st
			one.of, one.label = of, st.label+gpuName(of)
			if _, ok := valueOf(one.source(s, t), one.name, of); ok {
				out = append(out, one)
			}
		}
	}
	return out
}

// valueOf is the newest value of a name and of what it is of.
func valueOf(sv *stats.Server, name, of string) (float64, bool) {
	if sv != nil {
		for i := range sv.Values {
			if v := &sv.Values[i]; v.Name == name && v.Of == of {
				return v.Value, true
			}
		}
	}
	return 0, false
}

// source is where a strip's figure comes from: a GPU may be this machine's, or
// of an exporter's page.
func (st *strip) source(s *stats.Snapshot, t *stats.Target) *stats.Server {
	if strings.HasPrefix(st.name, "gpu.") {
		if _, ok := valueOf(s.Machine, st.name, st.of); ok {
			return s.Machine
		}
	}
	return t.Server
}

// most is the largest that a GPU's figure can be; 0 where it is not said.
func (st *strip) most(fr *frame) float64 {
	name := map[string]string{"gpu.clock": "gpu.clock_max", "gpu.power": "gpu.power_limit", "gpu.mem_used": "gpu.mem_total"}[st.name]
	if name == "" {
		if st.kind == stripSlow {
			return 1
		}
		return 0
	}
	v, _ := valueOf(st.source(fr.s, fr.t), name, st.of)
	if v > 0 && v < 1e18 {
		return v
	}
	return 0
}

// gpuText is a GPU's figure with its unit, in six columns.
func (st *strip) gpuText(v float64) string {
	scale, unit := 1.0, ""
	switch st.name {
	case "gpu.clock":
		scale = 1e6 // the label says so
	case "gpu.power":
		unit = "W"
	case "gpu.temp":
		unit = "°C"
	case "gpu.mem_used":
		scale, unit = 1<<30, "GB"
	}
	return strconv.FormatFloat(min(v/scale, 9999), 'f', 0, 64) + unit
}
