//go:build unix

package probe

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// alive tells whether a process runs. A zombie, which nobody has waited for
// yet, does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return os.IsPermission(err) || !os.IsNotExist(err) || noProc()
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func noProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err != nil
}

// cpuTime is the processor time of this process in ns.
func cpuTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
