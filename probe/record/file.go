package record

import (
	"fmt"
	"io"
	"os"
)

// Create starts a recording in a new file, or in place of an old one. Text
// keeps the text of replies.
func Create(path string, text bool) (*Recorder, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("write the recording: %w", err)
	}
	r, err := NewRecorder(f, Options{Compress: true, Text: text})
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("write the recording: %w", err)
	}
	return r, nil
}

// Open reads a recording; "-" is standard input. The closer is the file's.
func Open(path string) (*Reader, io.Closer, error) {
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, nil, err
		}
	}
	r, err := NewReader(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, f, nil
}
