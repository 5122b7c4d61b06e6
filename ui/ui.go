// Package ui is the live screen: one Bubble Tea model that pulls the newest
// Snapshot on its frame tick and draws it, and the program around it that
// leaves the terminal as it found it on every way out.
//
// It must not measure, keep statistics or talk to an endpoint: it reads
// Snapshots, and what the operator wants done it hands to the functions of its
// Config. Nothing here ever waits for the terminal: a stalled terminal stalls
// the picture and nothing else.
package ui

import (
	"os"
	"time"

	"teapot/probe/event"
	"teapot/stats"
)

// Config is what the screen needs. Snapshot, In and Out have to be set.
type Config struct {
	// Snapshot returns the newest snapshot. It is called often and must not block.
	Snapshot func() *stats.Snapshot
	// Control takes what the operator wants of the probe. It is called from a
	// goroutine of its own, one at a time; nil where there is no probe to steer,
	// as in a replay.
	Control func(event.Control)
	// Feed lets the statistics be reset; nil where that is not possible.
	Feed Feed
	// Ended says how the probe ended, "" while it runs: "signal killed". The
	// screen shows it and goes on. It must not block; nil when there is no probe.
	Ended func() string
	// Failed ends the program with the first error that comes out of it: a fault
	// in another goroutine of the process, such as a panic that was caught there.
	Failed <-chan error

	// Scene has the built-in engine play its next scene, and says what that is and
	// what to look for; nil where there is no engine of ours. It may block: it is
	// called from a goroutine of its own.
	Scene func() (Scene, error)

	// Playback is the recording that is shown; nil for a measurement, and where the
	// events come as they like.
	Playback Playback

	// Window is the index into stats.Windows of the window shown first.
	Window int
	Theme  string // auto, dark, light, mono, contrast
	Color  string // auto, always, never
	Glyphs string // auto, block, braille, ascii
	// LowBandwidth keeps the bytes to the terminal below 1.5 KB/s.
	LowBandwidth bool
	// NoSync leaves synchronized output (mode 2026) off.
	NoSync bool
	// NoText starts with the words of the streams hidden.
	NoText bool
	// LeaveWhenDone ends the screen when the run has reached its limit.
	LeaveWhenDone bool

	Env     func(string) string // nil: os.Getenv
	In, Out *os.File
	Now     func() time.Time // nil: time.Now
}

// Feed is the part of a stats.Feed that the screen uses.
type Feed interface {
	// Put adds an event that is the operator's doing.
	Put(ev event.Event)
}

// Scene is something that the built-in engine shows on purpose.
type Scene struct {
	Title string // a few words
	Look  string // what to look for
}

// Outcome is how the screen ended.
type Outcome struct {
	// Signal is the signal that ended it, nil for any other way.
	Signal os.Signal
	// Quit: the operator quit with a key. Aborted: by a second press.
	Quit, Aborted bool
	// Done: the run reached its limit and LeaveWhenDone was set.
	Done bool
	// Gone: the terminal went away.
	Gone bool
}

// Normal tells whether the last table should be left in the scrollback: the
// terminal is there and nobody was killed.
func (o Outcome) Normal() bool { return o.Signal == nil && !o.Gone && (o.Quit || o.Done) }
