package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"teapot/probe/event"
)

func TestCreateAndOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	w, err := Create(path, false)
	if err != nil {
		t.Fatal(err)
	}
	w.Put(&event.Mark{At: 7, Label: "here"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if ev, err := r.Next(); err != nil || ev.Time() != 7 {
		t.Errorf("%+v, %v", ev, err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("these are notes, and no recording at all\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(text); !errors.Is(err, ErrNotRecording) {
		t.Errorf("a text: %v", err)
	}
	if _, _, err := Open(text + ".none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Create(filepath.Join(text, "run"), true); err == nil {
		t.Error("a recording below a file")
	}
}
