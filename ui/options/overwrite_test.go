package options

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run that somebody kept is not lost to a slip of the fingers: no output may
// bear the name of an input, nor of another output.
func TestOutputsOverwriteNothing(t *testing.T) {
	dir := t.TempDir()
	run, other, link := filepath.Join(dir, "run.teapot"), filepath.Join(dir, "b.json"), filepath.Join(dir, "link")
	for _, f := range []string{run, other} {
		if err := os.WriteFile(f, []byte("kept"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(run, link); err != nil {
		t.Skip("no symbolic links here")
	}
	fresh := filepath.Join(dir, "new")
	roundabout := filepath.Join(dir, "none", "..", "new")
	for _, c := range []struct {
		name string
		args []string
		says string // "": all is well
	}{
		{"a report over its recording", []string{"report", run, "-o", run}, "-o names the recording itself, "},
		{"by another name", []string{"report", run, "-o", link}, "-o names the recording itself, "},
		{"an interval log over it", []string{"report", run, "--hlog", run}, "--hlog names the recording itself, "},
		{"one of several", []string{"report", run, other, "--merge", "-o", other}, "-o names the recording itself, "},
		{"a replay", []string{"replay", run, "--hlog", run}, "--hlog names the recording itself, "},
		{"an export", []string{"export", run, "-o", run}, "-o names the recording itself, "},
		{"a comparison", []string{"compare", run, other, "-o", other}, "-o names the run itself, "},
		{"diagnostics", []string{"report", run, "--log", run}, "--log names the recording itself, "},
		{"the prompts", []string{"report", "h:1", "--prompt-file", other, "--record", other}, "--record names --prompt-file itself, "},
		{"two outputs", []string{"report", "h:1", "-o", other, "--record", other}, "-o and --record name the same file, "},
		{"two new ones", []string{"report", "h:1", "--hlog", roundabout, "--record", fresh}, "--record and --hlog name the same file, "},
		{"different files", []string{"report", run, "-o", other}, ""},
		{"a device twice", []string{"report", "h:1", "--record", os.DevNull, "--hlog", os.DevNull}, ""},
		{"standard input and output", []string{"report", "-", "-o", "-"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, diag := parseCode(c.args...)
			if c.says == "" && (code != GoOn || diag != "") {
				t.Errorf("exit %d, %q; want none", code, diag)
			}
			if c.says != "" && (code != ExitUsage || !strings.Contains(diag, c.says)) {
				t.Errorf("exit %d, %q; want %d and %q", code, diag, ExitUsage, c.says)
			}
		})
	}
	for _, f := range []string{run, other} {
		if kept, err := os.ReadFile(f); err != nil || string(kept) != "kept" {
			t.Errorf("%s holds %q, %v", f, kept, err)
		}
	}
}
