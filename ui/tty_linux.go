package ui

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

// reopen opens a terminal once more, for writing alone and without blocking; nil
// when that cannot be done. The file it came from keeps its own flags, which
// other processes share.
func reopen(f *os.File) *os.File {
	again, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), os.O_WRONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if !term.IsTerminal(again.Fd()) || again.SetWriteDeadline(time.Time{}) != nil {
		_ = again.Close()
		return nil
	}
	return again
}

// discardOutput throws away what a terminal has been given and has not taken.
func discardOutput(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCOFLUSH)
}

// parentOf is the parent of a process, from its line in /proc.
func parentOf(pid int) (int, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// pid (name) state ppid ...; the name may hold anything.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return 0, false
	}
	fields := bytes.Fields(b[i+1:])
	if len(fields) < 2 {
		return 0, false
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	return ppid, err == nil
}
