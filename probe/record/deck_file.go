package record

import (
	"io"
	"os"
	"sync"

	"teapot/probe/event"
)

// File is a recording on disk that can be read again and again from its
// beginning, as a Deck has to.
type File struct {
	path string

	mu sync.Mutex
	r  *Reader
	f  io.Closer
}

// OpenDeck plays a recording on disk at a speed as that of NewDeck. The File
// is what it plays, and is the caller's to close.
func OpenDeck(path string, speed float64) (*Deck, *File, error) {
	f := &File{path: path}
	d, err := NewDeck(f.open, lastOf(path), speed)
	if err != nil {
		return nil, nil, err
	}
	return d, f, nil
}

// lastOf is Last of a file, 0 where it cannot be looked at.
func lastOf(path string) int64 {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0
	}
	return Last(f, st.Size())
}

func (f *File) open() (func() (event.Event, error), error) {
	r, c, err := Open(f.path)
	if err != nil {
		return nil, err
	}
	f.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.r, f.f = r, c
	return r.Next, nil
}

// Damage is that of the Reader in use.
func (f *File) Damage() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.r == nil {
		return ""
	}
	return f.r.Damage()
}

// Close closes the file.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f == nil {
		return nil
	}
	c := f.f
	f.f = nil
	return c.Close()
}
