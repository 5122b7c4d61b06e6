package signals

import (
	"strconv"
	"strings"

	"teapot/probe/event"
)

// gpuField is how a field of nvidia-smi becomes a sample.
type gpuField struct {
	query, name string
	factor      float64
}

// gpuFields lists what is asked for, in this order.
func gpuFields() []gpuField {
	return []gpuField{
		{"utilization.gpu", "gpu.util", .01},        // %
		{"utilization.memory", "gpu.mem_util", .01}, // % of the time
		{"memory.used", "gpu.mem_used", 1 << 20},    // MiB
		{"memory.total", "gpu.mem_total", 1 << 20},
		{"power.draw", "gpu.power", 1}, // W
		{"power.limit", "gpu.power_limit", 1},
		{"clocks.sm", "gpu.clock", 1e6}, // MHz
		{"clocks.max.sm", "gpu.clock_max", 1e6},
		{"temperature.gpu", "gpu.temp", 1}, // °C
	}
}

// The reasons for low clocks have another name in drivers before 535.
const (
	reasonsNew = "clocks_event_reasons.active"
	reasonsOld = "clocks_throttle_reasons.active"
)

// gpuQueries are the lists of fields to ask for, the best first.
func gpuQueries() [][]string {
	base := []string{"index"}
	for _, f := range gpuFields() {
		base = append(base, f.query)
	}
	with := func(field string) []string { return append(append([]string(nil), base...), field) }
	return [][]string{with(reasonsNew), with(reasonsOld), base}
}

// readGPU reads a line of figures. A figure that a GPU does not have is left
// out: "[N/A]", "[Not Supported]".
func readGPU(fields []string, line string) (index int, values []event.Sample, ok bool) {
	cells := strings.Split(line, ",")
	if len(cells) != len(fields) {
		return 0, nil, false
	}
	index, err := strconv.Atoi(strings.TrimSpace(cells[0]))
	if err != nil || index < 0 {
		return 0, nil, false
	}
	of := strconv.Itoa(index)
	known := gpuFields()
	for i, cell := range cells[1:] {
		cell = strings.TrimSpace(cell)
		if i >= len(known) {
			if mask, err := strconv.ParseUint(strings.TrimPrefix(cell, "0x"), 16, 32); err == nil {
				values = append(values, event.Sample{Name: "gpu.throttle", Of: of, Value: float64(mask)})
			}
			continue
		}
		if v, err := strconv.ParseFloat(cell, 64); err == nil && finite(v) {
			values = append(values, event.Sample{Name: known[i].name, Of: of, Value: v * known[i].factor})
		}
	}
	return index, values, true
}

// The reasons for low clocks that slow down somebody's work. Idle (0x1), clocks
// set by an application (0x2) or for a display (0x100) and the sync boost of a
// group (0x10) do not.
func throttles() []struct {
	bit  uint32
	name string
} {
	return []struct {
		bit  uint32
		name string
	}{
		{0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x20, "heat, by the driver"},
		{0x40, "heat, by the hardware"}, {0x80, "power brake"},
	}
}

// ThrottleReasons names what slows a GPU down, from the mask of a gpu.throttle
// sample; none while nothing does.
func ThrottleReasons(mask float64) []string {
	if !(mask >= 1 && mask < 1<<32) {
		return nil
	}
	var out []string
	for _, t := range throttles() {
		if uint32(mask)&t.bit != 0 {
			out = append(out, t.name)
		}
	}
	return out
}
