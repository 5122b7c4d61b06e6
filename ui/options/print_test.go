package options

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPrintConfig(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "SECRET-1", "TEAPOT_HEADER": "Authorization: SECRET-2", "TEAPOT_WARMUP": "3"}
	args := []string{"report", "http://ann:SECRET-3@h:1/v1?key=SECRET-4", "--slo", "gap<=50ms", "-d", "90m", "--seed", "18446744073709551615"}
	_, code, stdout, stderr := run(env, append(args, "--print-config")...)
	if code != ExitOK || stderr != "" {
		t.Fatalf("code %d, %q", code, stderr)
	}
	if strings.Contains(stdout, "SECRET") {
		t.Errorf("a secret is shown:\n%s", stdout)
	}
	for _, want := range []string{
		"# endpoint http://h:1/v1\n",
		"duration = \"1h30m\"                 # flag\n",
		"warmup = 3                         # environment TEAPOT_WARMUP\n",
		"slo = [\"gap<=50ms\"]                # flag\n",
		"# header = [\"Authorization: (hidden)\"]  # environment TEAPOT_HEADER\n",
		"# concurrency = 1                    # default\n",
		"# model is not set\n",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is missing in\n%s", want, stdout)
		}
	}
	// What is printed is a settings file that gives the same settings again.
	config := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(config, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	first := mustParse(t, env, args...)
	again := mustParse(t, env, "report", args[1], "--config", config)
	if diff := cmp.Diff(first.Config(first.URLs), again.Config(again.URLs)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(first.Stats(), again.Stats()); diff != "" {
		t.Error(diff)
	}
}

// Any text survives the way through a settings file.
func TestTOMLString(t *testing.T) {
	config := filepath.Join(t.TempDir(), "config.toml")
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(rapid.String().Draw(t, "s"), "\x00", "")
		if s == "" {
			return
		}
		if err := os.WriteFile(config, []byte("prompt = "+tomlString(s)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		o, code, _, stderr := run(nil, "h:1", "--config", config)
		if code != GoOn || o.Prompt != s {
			t.Fatalf("%q: code %d, %s", s, code, stderr)
		}
	})
}

func TestHelpAndVersion(t *testing.T) {
	for _, args := range []string{"-h", "--help", "watch -h", "demo -h", "report -h", "replay -h", "probe -h", "engine -h", "report -h -c 4"} {
		_, code, stdout, stderr := run(nil, strings.Fields(args)...)
		if code != ExitOK || stderr != "" || !strings.HasPrefix(stdout, "Usage: teapot ") {
			t.Fatalf("teapot %s: code %d, %q, %q", args, code, stdout, stderr)
		}
		for _, l := range strings.Split(stdout, "\n") {
			if len(l) > 79 || strings.HasSuffix(l, " ") {
				t.Errorf("teapot %s: line %q has %d columns", args, l, len(l))
			}
		}
		if strings.Contains(stdout, "--child") {
			t.Errorf("teapot %s shows the private flag", args)
		}
		if n := strings.Count(stdout, "\n  teapot "); n < 2 {
			t.Errorf("teapot %s has %d examples", args, n)
		}
	}
	_, _, report, _ := run(nil, "report", "-h")
	if strings.Contains(report, "--theme") || !strings.Contains(report, "--slo") || !strings.Contains(report, "\nLoad:\n  -c, --concurrency N ") {
		t.Errorf("the help of report:\n%s", report)
	}
	for _, c := range []string{"engine", "replay", "selftest", "accuracy"} {
		_, _, text, _ := run(nil, c, "-h")
		for _, no := range []string{"--rate", "OPENAI_API_KEY", "never answered"} {
			if strings.Contains(text, no) {
				t.Errorf("the help of %s, which makes no load, speaks of %s", c, no)
			}
		}
	}
	for _, args := range []string{"-V", "--version", "report -V"} {
		_, code, stdout, stderr := run(nil, strings.Fields(args)...)
		if code != ExitOK || stderr != "" || stdout != "teapot "+VersionString()+"\n" || !strings.Contains(stdout, Release) {
			t.Errorf("teapot %s: code %d, %q", args, code, stdout)
		}
	}
}

// The tags are a description that other code reads: they must be complete.
func TestFlagTags(t *testing.T) {
	p, err := newParser(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.kong.Model.Flags {
		if f.Hidden {
			continue
		}
		if f.Help == "" || f.Tag.Get("on") == "" || f.Group == nil {
			t.Errorf("--%s lacks help, commands or a group", f.Name)
		}
		if _, ok := f.Mapper.(decoder); !ok {
			t.Errorf("--%s is not read by our decoder", f.Name)
		}
		for _, c := range strings.Fields(f.Tag.Get("on")) {
			if c != "all" && !slices.Contains(commandNames(), c) {
				t.Errorf("--%s is for the unknown command %s", f.Name, c)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "h:1", "report\nh:1\n-c\n4", "-", "--", "--\n-c", "-c=4", "--slo=gap<=1ms", "replay\n-", "-vVh", "--=", "-=", "-\xff", "--no-sync=false", "-H\nX: y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var args []string
		for _, a := range strings.Split(s, "\n") {
			// Files are somebody else's: only the words are of interest here.
			if strings.Contains(a, "/") && !strings.Contains(a, "://") {
				return
			}
			args = append(args, a)
		}
		o, code, stdout, stderr := run(nil, args...)
		switch {
		case code == GoOn && o != nil && stdout == "" && stderr == "":
			o.Config(o.URLs)
			o.Stats()
		case code == ExitOK && o == nil && stdout != "" && stderr == "":
		case code == ExitUsage && o == nil && stdout == "" && strings.HasPrefix(stderr, "teapot: ") && strings.Count(stderr, "\n") == 1:
		default:
			t.Fatalf("%q: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	})
}
