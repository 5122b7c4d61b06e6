package options

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// values gives three different values for each flag that can be set: for the
// file, the environment and the command line.
func values(name string, kind reflect.Type) [3]string {
	switch name {
	case "slo":
		return [3]string{"gap<=1ms:99%", "gap<=2ms:99%", "gap<=3ms:99%"}
	case "header":
		return [3]string{"X-A: 1", "X-A: 2", "X-A: 3"}
	case "api":
		return [3]string{"chat", "completions", "auto"}
	case "arrival":
		return [3]string{"poisson", "constant", "poisson"}
	case "cache":
		return [3]string{"warm", "cold", "warm"}
	case "max-error-rate":
		return [3]string{"1%", "2%", "3%"}
	case "window":
		return [3]string{"10s", "5m", "15m"}
	case "output-format":
		return [3]string{"json", "markdown", "none"}
	case "fail-if":
		return [3]string{"gap.p50>1s", "err>1%", "ttft.max<-5ms"}
	case "color":
		return [3]string{"always", "never", "always"}
	case "glyphs":
		return [3]string{"block", "braille", "ascii"}
	case "theme":
		return [3]string{"dark", "light", "mono"}
	case "to":
		return [3]string{"csv", "hlog", "vllm"}
	case "addr", "listen":
		return [3]string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
	case "server-metrics":
		return [3]string{"off", "drain", "http://h:2/metrics"}
	case "gpu":
		return [3]string{"off", "http://h:1/metrics", "auto"}
	case "api-key-env":
		return [3]string{"KEY1", "KEY2", "KEY3"}
	}
	switch kind.String() {
	case "bool":
		return [3]string{"true", "false", "true"}
	case "time.Duration":
		return [3]string{"61s", "62s", "63s"}
	case "float64":
		return [3]string{"1.5", "2.5", "3.5"}
	case "int", "uint64":
		return [3]string{"5", "6", "7"}
	}
	return [3]string{"FILE1", "FILE2", "FILE3"} // replaced by files that exist
}

// A flag beats the environment, which beats the file, which beats the default;
// for every flag there is.
func TestPrecedence(t *testing.T) {
	dir := t.TempDir()
	for i := 1; i <= 3; i++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("FILE%d", i)), append([]byte("a prompt\n"), certificate(t)...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := newParser(func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, f := range p.kong.Model.Flags {
		if !inFile(f.Name) {
			continue
		}
		tested++
		v := values(f.Name, f.Target.Type())
		for i, s := range v {
			if strings.HasPrefix(s, "FILE") {
				v[i] = filepath.Join(dir, s)
			}
		}
		config := filepath.Join(dir, "config.toml")
		fileValue := tomlString(v[0])
		if f.IsSlice() {
			fileValue = "[" + fileValue + "]"
		}
		if err := os.WriteFile(config, []byte("# settings\n"+f.Name+" = "+fileValue+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"TEAPOT_CONFIG": config, "KEY1": "k", "KEY2": "k", "KEY3": "k"}
		args := []string{"h:1"}
		switch on := " " + f.Tag.Get("on") + " "; {
		case strings.Contains(on, " watch ") || on == " all ":
		case strings.Contains(on, " replay "):
			args = []string{"replay", "-"}
		case strings.Contains(on, " export "):
			args = []string{"export", "-"}
		case strings.Contains(on, " engine "):
			args = []string{"engine"}
		case f.Name == "merge":
			args = []string{"report", "-"}
		case on == " compare ":
			args = []string{"compare", filepath.Join(dir, "FILE1"), filepath.Join(dir, "FILE2")}
		default:
			args = strings.Fields(on)[:1]
		}
		if f.Name == "arrival" {
			args = append(args, "--rate=1")
		}
		check := func(step string, want string, origin OriginKind, where string, args ...string) {
			t.Helper()
			o, code, _, stderr := run(env, args...)
			if code != GoOn {
				t.Fatalf("%s, %s: exit code %d: %s", f.Name, step, code, stderr)
			}
			field := reflect.ValueOf(*o).FieldByIndex(fieldOf(t, f.Name))
			got := fmt.Sprint(field.Interface())
			if d, ok := field.Interface().(interface{ Seconds() float64 }); ok {
				got = fmt.Sprintf("%gs", d.Seconds())
			}
			if got = strings.Trim(got, "[]"); got != want {
				t.Errorf("%s, %s: %q, want %q", f.Name, step, got, want)
			}
			if at := o.Origin(f.Name); at.Kind != origin || at.Where != where {
				t.Errorf("%s, %s: from %+v", f.Name, step, at)
			}
		}
		check("file", v[0], FromFile, config+":2", args...)
		env[EnvName(f.Name)] = v[1]
		check("environment", v[1], FromEnv, EnvName(f.Name), args...)
		check("flag", v[2], FromFlag, "", append(args, "--"+f.Name+"="+v[2])...)
	}
	if tested < 43 {
		t.Errorf("only %d flags were found", tested)
	}
}

// fieldOf finds the field of a flag.
func fieldOf(t *testing.T, name string) []int {
	t.Helper()
	for _, f := range reflect.VisibleFields(reflect.TypeOf(Options{})) {
		if f.Tag.Get("name") == name {
			return f.Index
		}
	}
	t.Fatalf("there is no field for --%s", name)
	return nil
}

func TestSettingsFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "teapot"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "teapot", "config.toml")
	cases := []struct{ name, text, want string }{
		{"unknown key", "rate = 2\ncolour = \"never\"\n", ":2: unknown key 'colour'; did you mean 'color'?"},
		{"unknown key inside a longer value", "prompt = \"\"\"\ncolour = 1\n\"\"\"\n\ncolour = 2\n", ":5: unknown key 'colour'; did you mean 'color'?"},
		{"the first of two", "zzz = 1\nyyy = 1\n", ":1: unknown key 'zzz'"},
		{"a table", "rate = 2\n\n[load]\nrate = 3\n", ":3: unknown key 'load'; did you mean 'log'?"},
		{"a dotted key", "load.rate = 3\n", ":1: unknown key 'load'; did you mean 'log'?"},
		{"config in the config", "config = \"x\"\n", ":1: unknown key 'config'"},
		{"a key", "api-key = \"SECRET\"\n", ":1: a key never stands in the settings file: put it into OPENAI_API_KEY, or name another variable with api-key-env"},
		{"wrong syntax", "rate = 2\nfoo =\n", ":2: expected value but found '\\n' instead"},
		{"wrong value", "# one\nrate = nan\n", ":2: rate: 'NaN' is not a number, e.g. --rate 2.5"},
		{"wrong type", "\n\nconcurrency = true\n", ":3: concurrency: 'true' is not a whole number, e.g. -c 4"},
		{"a table for a value", "rate = {a = 1}\n", ":1: rate: neither a text, a number, true, false nor a list of texts"},
		{"a date for a value", "model = 2026-01-01\n", ":1: model: neither a text, a number, true, false nor a list of texts"},
		{"a list for one value", "model = [\"a\", \"b\"]\n", ":1: model: it takes one value, not a list"},
		{"a list in a list", "slo = [[\"gap<=1ms\"]]\n", ":1: slo: neither a text, a number, true, false nor a list of texts"},
		{"numbers in a list", "slo = [1]\n", ":1: slo: '1' has no '<=' between the metric and its limit, e.g. 'gap<=50ms:99%'"},
	}
	for _, c := range cases {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, code, _, stderr := run(map[string]string{"XDG_CONFIG_HOME": dir}, "h:1")
		if want := "teapot: " + path + c.want + "\n"; code != ExitUsage || stderr != want {
			t.Errorf("%s: code %d\n got %q\nwant %q", c.name, code, stderr, want)
		}
	}
	if _, code, _, _ := run(map[string]string{"XDG_CONFIG_HOME": dir}, "-h"); code != ExitOK {
		t.Error("help must work whatever the settings file holds")
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("#", maxConfig+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, code, _, stderr := run(map[string]string{"XDG_CONFIG_HOME": dir}, "h:1"); code != ExitUsage || !strings.Contains(stderr, "more than 1048576 bytes") {
		t.Errorf("code %d, %q", code, stderr)
	}
	if err := os.WriteFile(path, []byte("model = \"\"\nrate = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := mustParse(t, map[string]string{"HOME": "/nonexistent", "XDG_CONFIG_HOME": dir}, "h:1")
	if o.Rate != 2 || o.Given("model") {
		t.Errorf("rate %v, model from %v", o.Rate, o.Origin("model"))
	}
	if err := os.Rename(dir+"/teapot", dir+"/.config"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/.config/teapot", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir+"/.config/config.toml", dir+"/.config/teapot/config.toml"); err != nil {
		t.Fatal(err)
	}
	if o := mustParse(t, map[string]string{"HOME": dir}, "h:1"); o.Rate != 2 {
		t.Error("$HOME/.config/teapot/config.toml was not read")
	}
}

func TestEnvironment(t *testing.T) {
	_, code, _, stderr := run(map[string]string{"TEAPOT_RATE": "x"}, "h:1")
	if want := "teapot: TEAPOT_RATE: 'x' is not a number, e.g. --rate 2.5\n"; code != ExitUsage || stderr != want {
		t.Errorf("code %d, %q", code, stderr)
	}
	_, code, _, stderr = run(map[string]string{"TEAPOT_HEADER": "Authorization SECRET"}, "h:1")
	if code != ExitUsage || strings.Contains(stderr, "SECRET") || !strings.HasPrefix(stderr, "teapot: TEAPOT_HEADER: ") {
		t.Errorf("code %d, %q", code, stderr)
	}
	o := mustParse(t, map[string]string{"TEAPOT_SLO": "gap<=1ms, ttft<=1s\ntpot<=2ms", "TEAPOT_HEADER": "Authorization: Bearer a,b", "TEAPOT_THEME": "dark"}, "report", "h:1")
	if len(o.SLO) != 3 || len(o.Header) != 1 || o.Header[0] != "Authorization: Bearer a,b" {
		t.Errorf("%q, %q", o.SLO, o.Header)
	}
}
