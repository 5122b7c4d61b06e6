package ui

import (
	"os"

	"github.com/charmbracelet/x/term"
)

// keyboard is the terminal's file for reading. It notices the end of the
// terminal, which Bubble Tea takes for the end of the input alone.
type keyboard struct {
	*os.File
	gone func()
}

// Read reads keys; an error or the end of file means that the terminal is gone.
func (k *keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	if err != nil {
		k.gone()
	}
	return n, err
}

// openKeyboard returns where keys come from: in when it is a terminal, else the
// process's controlling terminal; nil when there is none, and then no key can be
// pressed. close undoes it.
func openKeyboard(in *os.File, gone func()) (k *keyboard, close func()) {
	if in != nil && term.IsTerminal(in.Fd()) {
		return &keyboard{in, gone}, func() {}
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, func() {}
	}
	if !term.IsTerminal(f.Fd()) {
		_ = f.Close()
		return nil, func() {}
	}
	return &keyboard{f, gone}, func() { _ = f.Close() }
}

// saveTerminal notes the terminal's settings; restore puts them back, as often
// as it is called.
func saveTerminal(f *os.File) (restore func()) {
	if f == nil || !term.IsTerminal(f.Fd()) {
		return func() {}
	}
	state, err := term.GetState(f.Fd())
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(f.Fd(), state) }
}
