package command

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teapot/probe/event"
	"teapot/probe/record"
	"teapot/stats"
)

// Files that are no sound recording get one clear line each, their code, and
// what can be saved of them.
func TestUnsoundRecordings(t *testing.T) {
	dir := t.TempDir()
	sound := filepath.Join(dir, "sound")
	if _, diag, code := run(t, "report", "demo:smooth", "-n", "4", "--max-tokens", "30", "--record", sound, "--output-format", "none"); code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	b, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(b)
	binary.LittleEndian.PutUint16(newer[8:], record.Version+1)
	binary.LittleEndian.PutUint32(newer[12:], castagnoli(newer[:12]))
	flipped := bytes.Clone(b)
	flipped[len(b)/2] ^= 0x10
	for _, c := range []struct {
		name   string
		bytes  []byte
		code   int
		line   string
		report bool
	}{
		{"cut", b[:len(b)-9], 0, "recording cut off at byte", true},
		{"flipped", flipped, 0, "recording damaged at byte", true},
		{"foreign", []byte("PK\x03\x04 this is something else altogether"), 1, "not a teapot recording", false},
		{"newer", newer, 1, "written by a newer teapot: format 2, this one reads up to 1", false},
		{"empty", nil, 1, "not a teapot recording: it is empty", false},
		{"text mode", append([]byte("teapot\n"), b[8:]...), 1, "a transfer in text mode changed its line ends", false},
		{"header alone", b[:16], 1, "nothing was recorded in it", true},
	} {
		file := filepath.Join(dir, "run "+c.name)
		if err := os.WriteFile(file, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"report", "replay"} {
			out, diag, code := run(t, command, file, "--output-format", "markdown")
			if code != c.code || (out != "") != c.report || !strings.Contains(diag, c.line) {
				t.Errorf("%s %s: exit %d, %d bytes of report, %q", command, c.name, code, len(out), diag)
			}
			if lines := strings.Split(strings.TrimSpace(diag), "\n"); command == "report" && (len(lines) != 1 || !strings.HasPrefix(lines[0], "teapot: "+file)) {
				t.Errorf("%s %s says %q", command, c.name, diag)
			}
		}
	}
}

// A process that is killed leaves a recording of all it had written, which was
// everything but the last moment.
func TestAKilledRunLeavesItsRecording(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "run")
	cmd := teapot("report", "demo:smooth", "-c", "2", "-d", "60s", "--record", rec, "--output-format", "none")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	var had *stats.Snapshot
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		s, err := snapshotOf(rec, strict())
		if err == nil && len(s.Targets) > 0 && s.Targets[0].Session.Gap.N > 100 {
			had = s
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing is recorded: %v", err)
		}
	}
	killed := time.Now()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s, err := snapshotOf(rec, strict())
	if err != nil {
		t.Fatal(err)
	}
	if s.Now < had.Now || s.Targets[0].Session.Gap.N < had.Targets[0].Session.Gap.N {
		t.Errorf("at %d with %d gaps; before it was killed at %d with %d", s.Now, s.Targets[0].Session.Gap.N, had.Now, had.Targets[0].Session.Gap.N)
	}
	t.Logf("lost: the last %v", killed.Sub(s.Wall.Add(time.Duration(s.Now))))
	out, diag, code := run(t, "report", rec)
	if code != 0 || !strings.Contains(out, "incomplete") {
		t.Errorf("exit %d, %q:\n%s", code, diag, out)
	}
}

// What is secret, and what was asked, is in no recording; what was answered is
// in one that was asked to hold it, and comes back in a replay.
func TestWhatARecordingHolds(t *testing.T) {
	url, _ := engine(t, "smooth")
	dir := t.TempDir()
	const key, prompt, header = "KEYcanary", "PROMPTcanary", "HEADERcanary"
	t.Setenv("OPENAI_API_KEY", key)
	t.Setenv("TEAPOT_HEADER", "X-Team: "+header)
	for _, text := range []bool{false, true} {
		rec := filepath.Join(dir, fmt.Sprint("text ", text))
		args := []string{"report", strings.Replace(url, "http://", "http://ann:USERcanary@", 1), "--prompt", prompt, "-n", "3",
			"--max-tokens", "20", "--record", rec, "--output-format", "none", "-v"}
		if text {
			args = append(args, "--save-text")
		}
		if _, diag, code := run(t, args...); code != 0 {
			t.Fatalf("exit %d: %s", code, diag)
		}
		r, f, err := record.Open(rec)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var all []byte
		words := 0
		for ev, err := r.Next(); err == nil; ev, err = r.Next() {
			all = event.Append(all, ev)
			if _, ok := ev.(*event.Text); ok {
				words++
			}
		}
		if i := bytes.Index(all, []byte("canary")); i >= 0 {
			t.Errorf("text %v: …%q…", text, all[max(i-60, 0):i+10])
		}
		if r.Text() != text || (words > 40) != text {
			t.Errorf("text %v: the recording says %v and holds %d texts", text, r.Text(), words)
		}
		s, err := snapshotOf(rec, strict())
		if err != nil {
			t.Fatal(err)
		}
		shown := ""
		for _, st := range s.Targets[0].Streams {
			for _, c := range st.Cells {
				shown += c.Text
			}
		}
		if (shown != "") != text {
			t.Errorf("text %v: a replay shows %q", text, shown)
		}
	}
}

// A replay on the screen is held, hurried, and taken back and forth.
func TestTheScreenOfAReplay(t *testing.T) {
	rec := filepath.Join(t.TempDir(), "run.teapot")
	if _, diag, code := run(t, "report", "demo:smooth", "-c", "2", "-n", "4", "--max-tokens", "150", "--record", rec, "--output-format", "none"); code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	s := show(t, "replay", rec)
	s.await(t, "REPLAY", "teapot-smooth")
	s.keys(t, "p")
	s.await(t, "REPLAY HELD")
	s.keys(t, "}")
	s.await(t, "REPLAY ENDED")
	s.keys(t, "0")
	s.await(t, "REPLAY HELD", "0s of")
	s.keys(t, "..")
	s.await(t, "REPLAY HELD", "2s of")
	s.keys(t, "]]]p")
	s.await(t, "REPLAY ENDED", "8×")
	s.keys(t, "q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("teapot: %v", err)
	}
	s.await(t, "ttft", "gap", "e2e")
}

// Recordings of two boxes report as one.
func TestMergedReport(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.teapot"), filepath.Join(dir, "b.teapot")
	n := uint64(0)
	for _, rec := range []string{a, b} {
		if _, diag, code := run(t, "report", "demo:smooth", "-n", "4", "--max-tokens", "20", "--record", rec, "--output-format", "none"); code != 0 {
			t.Fatalf("exit %d: %s", code, diag)
		}
		s, err := snapshotOf(rec, stats.Config{MaxErrorRate: -1})
		if err != nil {
			t.Fatal(err)
		}
		n += s.Targets[0].Session.Gap.N
	}
	out, diag, code := run(t, "report", a, b, "--merge", "--output-format", "json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, diag)
	}
	if !strings.Contains(out, `"ok": 8,`) || !strings.Contains(out, fmt.Sprintf(`"n": %d,`, n)) || !strings.Contains(out, "were not made at the same time") {
		t.Errorf("%d gaps in\n%s", n, out)
	}
	if _, diag, code = run(t, "report", a, b); code != 2 || !strings.Contains(diag, "--merge") {
		t.Errorf("without --merge: exit %d, %q", code, diag)
	}
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
