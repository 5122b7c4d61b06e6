package accuracy

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes this machine in a few lines.
func machine() []string {
	lines := []string{fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(b), "model name"); ok {
			name, _, _ := strings.Cut(rest, "\n")
			lines = append(lines, strings.TrimLeft(name, "\t :"))
		}
	}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		lines = append(lines, "kernel "+strings.TrimSpace(string(b)))
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ := strings.Cut(string(b), " ")
		lines = append(lines, "load average at the start: "+load)
	}
	return lines
}
