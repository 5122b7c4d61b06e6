//go:build !linux

package accuracy

import "time"

// epoch makes a monotonic clock where processes share none: delays between
// processes cannot be told then, gaps can.
var epoch = time.Now()

func monotonic() int64 { return int64(time.Since(epoch)) }

func sleep(ns int64) { time.Sleep(time.Duration(ns)) }

func privilege() (realtime, pinned bool) { return false, false }

func busy() (all, ours int64) { return 0, 0 }
