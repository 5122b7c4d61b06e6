//go:build !unix

package probe

// setNice does nothing on this system.
func setNice(int) {}

// niceValue is 0, the ordinary priority, on this system.
func niceValue() int { return 0 }

// resident is the memory of the process in bytes; 0, unknown, on this system.
func resident() int64 { return 0 }

// setSlice does nothing on this system.
func setSlice(int64) {}

// sliceValue is 0, unknown, on this system.
func sliceValue() int64 { return 0 }
