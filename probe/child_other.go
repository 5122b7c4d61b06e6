//go:build !unix && !windows

package probe

import "syscall"

// childAttr has nothing to ask of this system.
func childAttr() *syscall.SysProcAttr { return nil }
