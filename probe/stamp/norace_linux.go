//go:build linux && !race

package stamp

func sawRead(uintptr) {}
