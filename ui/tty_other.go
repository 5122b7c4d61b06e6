//go:build !linux

package ui

import "os"

// reopen is not done here.
func reopen(*os.File) *os.File { return nil }

// discardOutput is not done here: the last frames of a stalled terminal are
// given up.
func discardOutput(*os.File) {}

// parentOf is not known here.
func parentOf(int) (int, bool) { return 0, false }
