//go:build !unix

package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// suspend has nothing to do where there is no job control.
func suspend(func(time.Duration) bool) tea.Cmd {
	return func() tea.Msg { return suspendedMsg{orphan: true} }
}
