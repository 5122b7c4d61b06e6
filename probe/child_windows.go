package probe

import "syscall"

// createNewProcessGroup keeps ctrl+c of the console from the child.
const createNewProcessGroup = 0x200

// childAttr keeps a child out of the reach of the console's ctrl+c.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: createNewProcessGroup}
}
