package report

import (
	"fmt"
	"os"

	"teapot/stats"
)

// standard tells whether a path stands for standard output.
func standard(path string) bool { return path == "" || path == "-" }

// Writable says before a run whether its report can be written to path, so that
// nothing is measured for nothing. It leaves a file that exists as it is.
func Writable(path string) error {
	if standard(path) {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return f.Close()
}

// Write renders the report of a run in a form by its name and saves it at path.
func Write(s *stats.Snapshot, form, path string, o Options) error {
	text, err := Render(s, form, o)
	if err != nil {
		return err
	}
	return Save(path, text)
}

// Save writes a report to path, "" or "-" being standard output. Where the file
// cannot be written after all, the report goes to standard output beside the
// error: it is not lost.
func Save(path, text string) error {
	if standard(path) {
		_, err := os.Stdout.WriteString(text)
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		_, _ = os.Stdout.WriteString(text)
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
