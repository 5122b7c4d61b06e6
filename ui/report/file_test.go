package report

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"": true, "-": true, old: true, filepath.Join(dir, "new"): true, filepath.Join(dir, "none", "new"): false, dir: false} {
		if err := Writable(path); (err == nil) != want {
			t.Errorf("%q: %v", path, err)
		}
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "kept" {
		t.Errorf("the old report is %q, %v", b, err)
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report")
	for _, text := range []string{"a longer report\n", "short\n"} {
		if err := Save(path, text); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q, %v", b, err)
		}
	}
}
