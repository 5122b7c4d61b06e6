package probe

import (
	"bytes"
	"os"
	"strconv"
	"time"
)

// tick is the unit of processor times in /proc, the same on every Linux that Go
// knows.
const tick = 10 * time.Millisecond

// stolen is the processor time, ns, that the hypervisor has given to others
// since this machine was started; 0 where nobody can tell.
func stolen() int64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return 0
	}
	defer f.Close()
	var b [256]byte // the first line is the sum
	n, _ := f.Read(b[:])
	return stolenIn(b[:n])
}

// stolenIn reads the beginning of /proc/stat: cpu user nice system idle iowait
// irq softirq steal.
func stolenIn(stat []byte) int64 {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return 0
	}
	n, err := strconv.ParseInt(string(f[8]), 10, 64)
	if err != nil || n < 0 || n > 1e12 {
		return 0
	}
	return n * int64(tick)
}

// loadOf is the load average of the last minute; 0 where nobody can tell.
func loadOf() float64 {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(b, []byte(" "))
	v, err := strconv.ParseFloat(string(first), 64)
	if err != nil || !(v >= 0 && v < 1e9) {
		return 0
	}
	return v
}
