package command

import (
	"os"
	"path/filepath"
	"testing"
)

// The report of a recording is the report of its run, byte for byte: with two
// targets, signals of the servers, a service level and replies that are cut off.
func TestReportOfARecordingEqualsLive(t *testing.T) {
	dir := t.TempDir()
	rec, live := filepath.Join(dir, "run"), filepath.Join(dir, "live.json")
	_, diag, code := run(t, "report", "demo:preemption", "demo:truncate", "-c", "3", "-d", "7s", "--max-tokens", "100",
		"--slo", "gap<=1us:99%", "--record", rec, "-o", live)
	if code != 3 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	want, err := os.ReadFile(live)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", rec, "--output-format", "json"},
		{"replay", rec, "--output-format", "json"},
	} {
		again, diag, code := run(t, args...)
		if code != 3 {
			t.Errorf("%s: exit %d: %s", args[0], code, diag)
		}
		if again != string(want) {
			t.Errorf("%s differs: live\n%s\nagain\n%s", args[0], want, again)
		}
	}
	if _, _, texts := readRecording(t, rec); texts != 0 {
		t.Errorf("%d texts in a recording that nobody asked to hold text", texts)
	}
}
