//go:build !unix

package probe

import "os"

// alive tells whether a process runs.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}

// cpuTime is not known here.
func cpuTime() int64 { return 0 }
