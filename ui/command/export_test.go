package command

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// TestOutToOtherTools takes one run, and its recording, to every tool.
func TestOutToOtherTools(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	_, diag, code := run(t, "report", "demo:smooth", "-n", "6", "-c", "2", "--max-tokens", "32", "--record", file("run.teapot"),
		"--hlog", file("live.hlog"), "--listen", ":0", "--output-format", "none")
	if code != 0 || !strings.Contains(diag, "at http://127.0.0.1:") {
		t.Fatalf("%d: %s", code, diag)
	}
	for _, form := range []string{"trace", "csv", "requests", "hlog", "hgrm", "vllm"} {
		if out, diag, code := run(t, "export", file("run.teapot"), "--to", form, "-o", file(form)); code != 0 || out != "" || diag != "" {
			t.Fatalf("%s: %d: %s%s", form, code, out, diag)
		}
	}
	if _, diag, code := run(t, "replay", file("run.teapot"), "--hlog", file("replayed.hlog"), "--output-format", "none"); code != 0 {
		t.Fatalf("%d: %s", code, diag)
	}
	read := func(name string) []byte {
		b, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, same := range map[string]string{"live.hlog": "hlog", "replayed.hlog": "hlog"} {
		if !bytes.Equal(read(name), read(same)) {
			t.Errorf("%s differs from what its recording gives:\n%s\n%s", name, read(name), read(same))
		}
	}
	if !json.Valid(read("trace")) || !json.Valid(read("vllm")) {
		t.Error("the trace or vllm's result is not JSON")
	}
	for name, least := range map[string]int{"csv": 6 * 16, "requests": 6} {
		rows, err := csv.NewReader(bytes.NewReader(read(name))).ReadAll()
		if err != nil || len(rows) <= least {
			t.Errorf("%s: %d rows, %v", name, len(rows), err)
		}
	}
	h, err := hdr.NewHistogramLogReader(bytes.NewReader(read("hlog"))).NextIntervalHistogram()
	if err != nil || h == nil || h.TotalCount() == 0 {
		t.Errorf("the interval log begins with %v, %v", h, err)
	}
}

// TestOutletsThatCannotBeHad are told in a line, before anything is measured.
func TestOutletsThatCannotBeHad(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	recording := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(recording, []byte("something else"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"report", "demo:smooth", "-d", "1s", "--listen", l.Addr().String()}, 1, "address already in use"},
		{[]string{"report", "demo:smooth", "-d", "1s", "--hlog", filepath.Join(t.TempDir(), "no", "such")}, 1, "no such file"},
		{[]string{"report", "demo:smooth", "--listen", "9400"}, 2, "HOST:PORT"},
		{[]string{"export", recording}, 1, recording},
		{[]string{"export", recording, "--to", "pdf"}, 2, "pdf"},
		{[]string{"export"}, 2, "needs a recording"},
		{[]string{"export", recording, "--listen", ":1"}, 2, "no meaning"},
	} {
		out, diag, code := run(t, c.args...)
		if code != c.code || out != "" || strings.Count(diag, "\n") != 1 || !strings.Contains(diag, c.says) {
			t.Errorf("%q: %d, %q%q", c.args, code, out, diag)
		}
	}
}

// A recording that is none leaves the file of a log as it was.
func TestAWrongRecordingEmptiesNoLog(t *testing.T) {
	dir := t.TempDir()
	log, foreign := filepath.Join(dir, "kept.hlog"), filepath.Join(dir, "foreign")
	for _, f := range []string{log, foreign} {
		if err := os.WriteFile(f, []byte("of before"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, command := range []string{"report", "replay"} {
		if _, diag, code := run(t, command, foreign, "--hlog", log); code != 1 {
			t.Errorf("%s: %d, %q", command, code, diag)
		}
		if b, err := os.ReadFile(log); err != nil || string(b) != "of before" {
			t.Errorf("%s: the log holds %q (%v)", command, b, err)
		}
	}
}

// What cannot be written is said, and the recording stays as it was.
func TestAnExportKeepsItsRecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.teapot")
	if _, diag, code := run(t, "report", "demo:smooth", "-n", "2", "--max-tokens", "20", "--record", file, "--output-format", "none"); code != 0 {
		t.Fatalf("%d: %s", code, diag)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"export", file, "-o", file}, 2},
		{[]string{"export", file + ".gone"}, 2},
		{[]string{"export", file, "-o", filepath.Join(t.TempDir(), "no", "such")}, 1},
		{[]string{"export", file, "--to", "csv", "-o", "/dev/full"}, 1},
	} {
		out, diag, code := run(t, c.args...)
		if code != c.code || out != "" || strings.Count(diag, "\n") != 1 {
			t.Errorf("%q: %d, %q%q", c.args, code, out, diag)
		}
	}
	stump := filepath.Join(t.TempDir(), "stump.teapot")
	if err := os.WriteFile(stump, before[:5], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"trace", "csv", "vllm"} { // nothing in it is no success
		_, diag, code := run(t, "export", stump, "--to", form)
		if code != 1 || strings.Count(diag, "\n") != 1 || !strings.Contains(diag, "nothing can be read of it") {
			t.Errorf("%s of a stump: %d, %q", form, code, diag)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the recording changed (%v)", err)
	}
}
