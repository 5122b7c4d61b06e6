//go:build !linux

package probe

// stolen is the processor time that a hypervisor gave to others; here nobody
// can tell.
func stolen() int64 { return 0 }

// loadOf is the load average; here nobody asks.
func loadOf() float64 { return 0 }
