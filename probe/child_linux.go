package probe

import "syscall"

// childAttr keeps a child out of the reach of the terminal's ctrl+c and ctrl+z
// by a process group of its own, and has the kernel kill it when the thread
// that started it ends.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
