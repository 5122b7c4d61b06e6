package options

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"teapot/probe/event"
	"teapot/stats"
)

// run parses with a given environment and returns everything that came out.
func run(env map[string]string, args ...string) (o *Options, code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	o, code = Parse(args, func(k string) string { return env[k] }, &out, &errs)
	return o, code, out.String(), errs.String()
}

func mustParse(t *testing.T, env map[string]string, args ...string) *Options {
	t.Helper()
	o, code, _, stderr := run(env, args...)
	if code != GoOn {
		t.Fatalf("teapot %q: exit code %d: %s", args, code, stderr)
	}
	return o
}

// Every usage error is one exact line and exit code 2, and shows no secret.
func TestUsageErrors(t *testing.T) {
	const sayKey = "keys are not taken from the command line, where others can read them: put it into OPENAI_API_KEY, or name another variable with --api-key-env NAME"
	const sayHeader = "-H: keys are not taken from the command line, where others can read them: put the key into OPENAI_API_KEY or the variable that --api-key-env names, or the whole header into TEAPOT_HEADER"
	cases := []struct{ args, want string }{
		// Commands and arguments.
		{"reprot http://x", "'reprot' is neither a command nor a URL; did you mean 'report'?"},
		{"combine a b", "'combine' is neither a command (watch, demo, report, replay, compare, export, probe, engine, selftest, accuracy) nor a URL; a host alone is written http://combine:8000"},
		{"compare a b", "compare: stat a: no such file or directory"},
		{"compare a", "compare takes two runs, each a recording or a JSON report, e.g. teapot compare before.json after.json"},
		{"compare - -", "compare reads files, not standard input"},
		{"compare . .", "compare: . is a folder"},
		{"compare a b --fail-if gap>1", "--fail-if: 'gap>1' names no number of gap: there are mean p50 p90 p95 p99 p99.9 p99.99 max, e.g. 'gap.p99>+10%'"},
		{"report h:1 --fail-if gap.p99>1s", "--fail-if has no meaning for teapot report; it is for compare"},
		{"h:1 report", "'report' is a command and comes before the URL, e.g. teapot report http://localhost:8000"},
		{"report", "report needs a URL or a recording, e.g. teapot report http://localhost:8000 -d 60s"},
		{"report a.teapot", "report: stat a.teapot: no such file or directory"},
		{"report /", "report: / is a folder"},
		{"report - h:1", "'-' is a recording and 'h:1' is none: a report is of recordings or of endpoints"},
		{"report h:1 ./a", "'./a' is a recording and 'h:1' is none: a report is of recordings or of endpoints"},
		{"report - a.teapot", "report takes one recording; --merge adds several up, and teapot compare A B tells two apart"},
		{"report - - --merge", "'-' is given twice"},
		{"report - -c 4", "--concurrency has no meaning for a recording, which is measured already"},
		{"report - --record f", "--record has no meaning for a recording, which is measured already"},
		{"report h:1 --merge", "--merge adds up recordings: name their files, e.g. teapot report a.teapot b.teapot --merge"},
		{"probe", "probe needs a URL, e.g. teapot probe http://localhost:8000 > run.teapot"},
		{"replay", "replay needs a recording, e.g. teapot replay run.teapot, or - for standard input"},
		{"replay a b", "replay takes one recording, e.g. teapot replay run.teapot"},
		{"replay /", "replay: / is a folder"},
		{"demo a b", "demo takes one profile, e.g. teapot demo article"},
		{"demo Tour", "'demo:Tour': a profile has small letters, digits and dashes, e.g. demo:article"},
		{"demo http://x", "demo takes the name of a profile, e.g. teapot demo article; an endpoint is watched with teapot URL"},
		{"engine a b", "engine takes one profile, e.g. teapot engine article --addr 127.0.0.1:8000"},
		{"engine A", "'demo:A': a profile has small letters, digits and dashes, e.g. demo:article"},
		{"a:1 b:1 c:1 d:1 e:1", "5 URLs were given; at most 4 are watched at once"},
		{"h:1 http://h:1/", "'http://h:1' is given twice"},
		// Flags.
		{"--concurency 4", "unknown flag --concurency; did you mean '--concurrency'?"},
		{"--palette", "unknown flag --palette; teapot -h lists them"},
		{"--passive -n 5 h:1", "--passive makes no request: leave out --requests"},
		{"--passive --server-metrics off h:1", "--passive shows what the server says of itself: leave out --server-metrics off"},
		{"--server-metrics of h:1", "--server-metrics: 'of' is none of auto, off, drain, and no URL; did you mean 'off'?, e.g. --server-metrics http://gpu07:8002/metrics"},
		{"--gpu unix:///run/x.sock h:1", "--gpu: a page is read by http or https, e.g. --gpu http://gpu07:9400/metrics"},
		{"--gpu http:///metrics?key=s h:1", "--gpu: 'http:///metrics': the host is missing, e.g. http://localhost:8000"},
		{"--metrics-table /nowhere h:1", "--metrics-table: open /nowhere: no such file or directory"},
		{"-x", "unknown flag -x; teapot -h lists them"},
		{"report --theme dark h:1", "--theme has no meaning for teapot report; it is for watch, replay"},
		{"engine -c 4", "--concurrency has no meaning for teapot engine; it is for watch, report, probe"},
		{"--child h:1", "--child has no meaning for teapot watch; it is for probe, engine"},
		{"--prompt --model x", "--prompt: a value is missing"},
		{"-c -n 3", "--concurrency: a value is missing, e.g. -c 4"},
		{"-c", "--concurrency: a value is missing, e.g. -c 4"},
		{"h:1 --prompt x --prompt-tokens 4", "--prompt-tokens is for made-up prompts: leave it out, or leave out --prompt and --prompt-file"},
		{"h:1 --insecure --cacert x", "--insecure accepts any certificate: leave it out, or leave out --cacert"},
		{"h:1 --arrival poisson", "--arrival spaces the requests of --rate: give --rate too, e.g. --rate 2"},
		// Values.
		{"-c x", "--concurrency: 'x' is not a whole number, e.g. -c 4"},
		{"-cx", "--concurrency: 'x' is not a whole number, e.g. -c 4"},
		{"-c 1.5", "--concurrency: '1.5' is not a whole number, e.g. -c 4"},
		{"-c 0", "--concurrency: '0' is outside 1 to 4096, e.g. -c 4"},
		{"-c -1", "--concurrency: '-1' is outside 1 to 4096, e.g. -c 4"},
		{"-c 99999999999999999999", "--concurrency: '99999999999999999999' is outside 1 to 4096, e.g. -c 4"},
		{"-n -5", "--requests: '-5' is outside 0 to 1000000000, e.g. -n 500"},
		{"--warmup -1", "--warmup: '-1' is outside 0 to 100000, e.g. --warmup 1"},
		{"--max-tokens 0", "--max-tokens: '0' is outside 1 to 1000000, e.g. --max-tokens 64"},
		{"--prompt-tokens 0", "--prompt-tokens: '0' is outside 1 to 1000000, e.g. --prompt-tokens 512"},
		{"--max-total-tokens -1", "--max-total-tokens: '-1' is outside 0 to 1000000000000, e.g. --max-total-tokens 100000"},
		{"--seed -1", "--seed: '-1' is not a whole number from 0 to 18446744073709551615, e.g. --seed 7"},
		{"--rate x", "--rate: 'x' is not a number, e.g. --rate 2.5"},
		{"--rate NaN", "--rate: 'NaN' is not a number, e.g. --rate 2.5"},
		{"--rate inf", "--rate: 'inf' is outside 0 to 100000, e.g. --rate 2.5"},
		{"--rate -Inf", "--rate: '-Inf' is outside 0 to 100000, e.g. --rate 2.5"},
		{"--rate -2", "--rate: '-2' is outside 0 to 100000, e.g. --rate 2.5"},
		{"--rate 1e999", "--rate: '1e999' is outside 0 to 100000, e.g. --rate 2.5"},
		{"replay - --speed -1", "--speed: '-1' is outside 0 to 1000, e.g. --speed 4"},
		{"-d 60", "--duration: '60' has no unit: write 60s for seconds, e.g. -d 60s"},
		{"-d 5x", "--duration: '5x' is not a length of time, e.g. -d 60s"},
		{"-d 1ms", "--duration: '1ms' is outside 100ms to 8760h, e.g. -d 60s"},
		{"-d -5s", "--duration: '-5s' is outside 100ms to 8760h, e.g. -d 60s"},
		{"-d 999999999h", "--duration: '999999999h' is outside 100ms to 8760h, e.g. -d 60s"},
		{"--timeout 0", "--timeout: '0' is outside 1ms to 24h, e.g. --timeout 10m"},
		{"--ttft-timeout 25h", "--ttft-timeout: '25h' is outside 1ms to 24h, e.g. --ttft-timeout 30s"},
		{"--retention 1s", "--retention: '1s' is outside 1m to 24h, e.g. --retention 1h"},
		{"--theme drak", "--theme: 'drak' is none of auto, dark, light, mono, contrast; did you mean 'dark'?"},
		{"--api respons", "--api: 'respons' is none of auto, chat, completions, responses, anthropic, ollama, ollama-generate, llamacpp, lmstudio, sglang, tgi, triton, gemini, koboldcpp; did you mean 'responses'?"},
		{"--output-format xml", "--output-format: 'xml' is none of text, json, markdown, none"},
		{"--window 2m", "--window: '2m' is none of 10s, 1m, 5m, 15m"},
		{"--insecure=maybe", "--insecure: 'maybe' is neither true nor false"},
		{"--max-error-rate 5", "--max-error-rate: '5' is more than everything; write 1% or 0.01 for one in a hundred"},
		{"--max-error-rate -1%", "--max-error-rate: a value is missing, e.g. --max-error-rate 1%"},
		{"--max-error-rate=-1%", "--max-error-rate: '-1%' is neither a percentage nor a share, e.g. 1% or 0.01"},
		{"--slo gap", "--slo: 'gap' has no '<=' between the metric and its limit, e.g. 'gap<=50ms:99%'"},
		{"--slo mlperf:70b", "--slo: 'mlperf:70b' is unknown: mlperf: takes one of 405b, 70b, 8b, deepseek-r1, gpt-oss-120b with -server or -interactive, e.g. mlperf:70b-interactive"},
		{"engine --addr foo", "--addr: 'foo' is not HOST:PORT, e.g. --addr 127.0.0.1:8000"},
		{"engine --addr h:99999", "--addr: 'h:99999' has a port above 65535, e.g. --addr 127.0.0.1:8000"},
		{"-H X-A", "--header: a header is written 'Name: value' (what was given is not shown: it may be a key)"},
		{"-H Content-Length:5", "--header: Content-Length is teapot's own to set"},
		{"--cacert /nonexistent/x h:1", "--cacert: open /nonexistent/x: no such file or directory"},
		{"--cacert . h:1", "--cacert: reading .: read .: is a directory"},
		{"--cacert parse_test.go h:1", "--cacert: 'parse_test.go' holds no certificate in PEM, such as begins with -----BEGIN CERTIFICATE-----"},
		{"--prompt-file /dev/null h:1", "--prompt-file: '/dev/null' has no prompt in it"},
		{"--config /nonexistent/x h:1", "settings file: open /nonexistent/x: no such file or directory"},
		// Keys.
		{"--api-key SECRET h:1", sayKey},
		{"--api-key=SECRET h:1", sayKey},
		{"--apikey SECRET h:1", sayKey},
		{"--openai-api-key=SECRET h:1", sayKey},
		{"--token SECRET h:1", sayKey},
		{"-H Authorization:SECRET h:1", sayHeader},
		{"-HAuthorization:SECRET h:1", sayHeader},
		{"--header=x-api-key:SECRET h:1", sayHeader},
		{"--api-key-env SECRET-1 h:1", "--api-key-env: it takes the name of an environment variable, e.g. OPENAI_API_KEY (what was given is not shown: it may be a key)"},
		{"--api-key-env SECRET h:1", "--api-key-env: the environment variable it names is not set"},
		{"replay a http://u:SECRET@h", "replay takes one recording, e.g. teapot replay run.teapot"},
		// URLs; more in TestCheckURL.
		{"ftp://x", "'ftp://x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
		{"ftp://ann:SECRET@x?k=SECRET", "'ftp://x': only http, https, unix and demo: URLs are supported, e.g. http://localhost:8000"},
	}
	for _, c := range cases {
		o, code, stdout, stderr := run(nil, strings.Fields(c.args)...)
		if o != nil || code != ExitUsage || stdout != "" || stderr != "teapot: "+c.want+"\n" {
			t.Errorf("teapot %s: code %d, stdout %q, stderr\n got %q\nwant %q", c.args, code, stdout, stderr, "teapot: "+c.want+"\n")
		}
		if strings.Contains(stderr, "SECRET") {
			t.Errorf("teapot %s shows a secret: %q", c.args, stderr)
		}
	}
}

func TestCommands(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.teapot")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name, args, command, urls, file, profile string
	}{
		{"nothing", "", "watch", "", "", ""},
		{"a URL", "http://h:1/v1/", "watch", "http://h:1/v1", "", ""},
		{"host and port", "gpu07:8000", "watch", "http://gpu07:8000", "", ""},
		{"watch by name", "watch gpu07:8000", "watch", "http://gpu07:8000", "", ""},
		{"two URLs", "a:1 b:1", "watch", "http://a:1 http://b:1", "", ""},
		{"demo", "demo", "watch", "demo:tour", "", ""},
		{"demo with a profile", "demo article", "watch", "demo:article", "", ""},
		{"demo twice", "demo demo:article", "watch", "demo:article", "", ""},
		{"demo as a URL", "demo:prefill -c 2", "watch", "demo:prefill", "", ""},
		{"report", "report demo:article -c 8 -d 40s", "report", "demo:article", "", ""},
		{"flags first", "-c 8 report demo:article", "report", "demo:article", "", ""},
		{"probe", "probe https://u:p@h/v1?k=1 --child", "probe", "https://u:p@h/v1?k=1", "", ""},
		{"a child is told on standard input", "probe --child", "probe", "", "", ""},
		{"replay", "replay " + file, "replay", "", file, ""},
		{"replay of standard input", "replay - --speed 0", "replay", "", "-", ""},
		{"engine", "engine", "engine", "", "", "smooth"},
		{"engine with a profile", "engine article --addr 127.0.0.1:0 --child", "engine", "", "", "article"},
	}
	for _, c := range cases {
		o := mustParse(t, nil, strings.Fields(c.args)...)
		got := []string{string(o.Command), strings.Join(o.URLs, " "), o.File, o.Profile}
		if diff := cmp.Diff([]string{c.command, c.urls, c.file, c.profile}, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestPauseAndDefaults(t *testing.T) {
	pauses := []struct {
		args string
		want time.Duration
	}{
		{"h:1", 250 * time.Millisecond}, {"report h:1", 250 * time.Millisecond}, {"h:1 --warmup 3", 250 * time.Millisecond},
		{"h:1 -c 1", 0}, {"h:1 -n 5", 0}, {"h:1 -d 5s", 0}, {"h:1 --rate 1", 0}, {"report h:1 -n 5", 0},
	}
	for _, c := range pauses {
		if got := mustParse(t, nil, strings.Fields(c.args)...).Pause(); got != c.want {
			t.Errorf("teapot %s: pause %v, want %v", c.args, got, c.want)
		}
	}
	if o := mustParse(t, map[string]string{"TEAPOT_CONCURRENCY": "2"}, "h:1"); o.Pause() != 0 {
		t.Error("a load from the environment is a load, too")
	}
	if o := mustParse(t, nil, "report", "h:1"); o.Duration != 30*time.Second || o.Warmup != 1 {
		t.Errorf("a report without a limit runs %v with %d warm-ups", o.Duration, o.Warmup)
	}
	if o := mustParse(t, nil, "report", "h:1", "-n", "5"); o.Duration != 0 {
		t.Errorf("a report of 5 requests also ends after %v", o.Duration)
	}
	if o := mustParse(t, nil, "h:1", "--rate", "2"); o.Concurrency != 128 {
		t.Errorf("an open loop has %d in flight at most", o.Concurrency)
	}
	if o := mustParse(t, nil, "h:1", "--rate", "2", "-c", "3"); o.Concurrency != 3 {
		t.Errorf("-c 3 gave %d", o.Concurrency)
	}
	for args, want := range map[string]string{
		"report h:1": "text", "report h:1 -o x.JSON": "json", "report h:1 -o x.md": "markdown", "report h:1 -o x.json --output-format text": "text",
	} {
		if o := mustParse(t, nil, strings.Fields(args)...); o.OutputFormat != want {
			t.Errorf("teapot %s reports as %s, want %s", args, o.OutputFormat, want)
		}
	}
	wants := []struct {
		args   string
		screen bool
		want   bool
	}{
		{"h:1", true, false}, {"h:1", false, true}, {"h:1 -o x", true, true}, {"h:1 --output-format json", true, true},
		{"report h:1", true, true}, {"report h:1 --output-format none", false, false},
	}
	for _, c := range wants {
		if got := mustParse(t, nil, strings.Fields(c.args)...).WantsReport(c.screen); got != c.want {
			t.Errorf("teapot %s, screen %v: report %v", c.args, c.screen, got)
		}
	}
}

// How long a judgement of the probe takes, unless something else was asked for.
func TestLengthOfAJudgement(t *testing.T) {
	cases := []struct {
		args   string
		rounds int
		span   time.Duration
	}{
		{"selftest", 3, 10 * time.Second},
		{"selftest -d 1s", 3, time.Second},
		{"accuracy", 3, 2 * time.Second},
		{"accuracy --rounds 5 -d 1s", 5, time.Second},
		{"accuracy --quick", 1, 500 * time.Millisecond},
		{"accuracy --quick --rounds 2", 2, 500 * time.Millisecond},
		{"accuracy --quick -d 1s", 1, time.Second},
	}
	for _, c := range cases {
		if o := mustParse(t, nil, strings.Fields(c.args)...); o.Rounds != c.rounds || o.Duration != c.span {
			t.Errorf("%s: %d rounds of %v", c.args, o.Rounds, o.Duration)
		}
	}
}

func TestConfig(t *testing.T) {
	o := mustParse(t, map[string]string{"OPENAI_API_KEY": "SECRET", "TEAPOT_HEADER": "X-A: 1\nX-B: 2"},
		"report", "demo:article", "-c", "8", "-d", "40s", "-n", "500", "--seed", "7", "--warmup", "2", "--max-tokens", "64",
		"--prompt-tokens", "512", "--cache", "warm", "-m", "tea", "--api", "chat", "--insecure", "-v", "--max-total-tokens", "9",
		"--connect-timeout", "1s", "--ttft-timeout", "2s", "--idle-timeout", "3s", "--timeout", "4s", "--ready-timeout", "5m")
	want := event.Config{
		Targets: []event.TargetConfig{{URL: "http://127.0.0.1:9", Model: "tea", API: "chat",
			Headers: []string{"X-A: 1", "X-B: 2"}, KeyEnv: "OPENAI_API_KEY", Insecure: true, Metrics: "auto"}},
		Load: event.Load{Concurrency: 8, Requests: 500, Duration: 40 * time.Second, MaxTotal: 9, Warmup: 2,
			MaxTokens: 64, PromptTokens: 512, Seed: 7},
		Limits:  event.Limits{Connect: time.Second, First: 2 * time.Second, Idle: 3 * time.Second, Total: 4 * time.Second, Grace: 10 * time.Second, Ready: 5 * time.Minute},
		Verbose: true, GiveUp: true, Version: Release, GPU: true, Judge: event.Judge{Retention: 15 * time.Minute},
	}
	if diff := cmp.Diff(want, o.Config([]string{"http://127.0.0.1:9"})); diff != "" {
		t.Error(diff)
	}

	o = mustParse(t, nil, "h:1", "--rate", "2.5", "--arrival", "poisson", "--prompt", "why?")
	c := o.Config(o.URLs)
	if c.Load.Rate != 2.5 || c.Load.Arrival != "poisson" || !c.Load.Cold || !c.Targets[0].Cold || !c.Text ||
		c.Load.PromptTokens != 0 || len(c.Prompts) != 1 || c.Targets[0].KeyEnv != "" {
		t.Errorf("%+v", c)
	}
	if c.Load.Seed == 0 || c.Load.Seed != o.RunSeed() || c.Load.Seed >= 1<<53 {
		t.Errorf("seed %d", c.Load.Seed)
	}
	if c.GiveUp {
		t.Error("a watch does not give up")
	}
	if mustParse(t, nil, "h:1").RunSeed() == o.RunSeed() {
		t.Error("two runs got the same seed")
	}
}

func TestPromptFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prompts")
	if err := os.WriteFile(file, []byte("one\r\n\n  \ntwo \xff\nthree"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := mustParse(t, nil, "h:1", "--prompt", "zero", "--prompt-file", file)
	if diff := cmp.Diff([]string{"zero", "one", "two \ufffd", "three"}, o.Prompts); diff != "" {
		t.Error(diff)
	}
}

func TestStatsConfig(t *testing.T) {
	o := mustParse(t, nil, "h:1", "--slo", "gap<50ms", "--slo", "mlperf:70b-interactive", "--slo", "gap <= 50ms : 99%",
		"--max-error-rate", "1%", "--retention", "2m", "--exclude-late", "--window", "300s")
	want := stats.Config{
		SLO: []stats.SLO{
			{Expr: "gap<=50ms:99%", Metric: "gap", Limit: 50e6, Goal: 0.99},
			{Expr: "ttft<=450ms:99%", Metric: "ttft", Limit: 450e6, Goal: 0.99},
			{Expr: "tpot<=40ms:99%", Metric: "tpot", Limit: 40e6, Goal: 0.99},
		},
		MaxErrorRate: 0.01, Retention: 2 * time.Minute, ExcludeLate: true,
	}
	if diff := cmp.Diff(want, o.Stats()); diff != "" {
		t.Error(diff)
	}
	if o.WindowIndex() != 2 {
		t.Errorf("window %d", o.WindowIndex())
	}
	if c := mustParse(t, nil, "h:1").Stats(); c.MaxErrorRate != -1 || len(c.SLO) != 0 || c.Retention != 15*time.Minute {
		t.Errorf("%+v", c)
	}
}

func TestASCII(t *testing.T) {
	cases := []struct {
		args string
		env  map[string]string
		want bool
	}{
		{"h:1", nil, false},
		{"h:1", map[string]string{"LC_ALL": "C", "LANG": "de_DE.UTF-8"}, true},
		{"h:1", map[string]string{"LC_CTYPE": "en_US.utf8", "LANG": "C"}, false},
		{"h:1", map[string]string{"LANG": "POSIX"}, true},
		{"h:1", map[string]string{"TERM": "dumb", "LANG": "C.UTF-8"}, true},
		{"h:1 --glyphs block", map[string]string{"LC_ALL": "C"}, false},
		{"h:1 --glyphs ascii", map[string]string{"LC_ALL": "C.UTF-8"}, true},
	}
	for _, c := range cases {
		if got := mustParse(t, c.env, strings.Fields(c.args)...).ASCII(); got != c.want {
			t.Errorf("teapot %s with %v: ASCII %v", c.args, c.env, got)
		}
	}
}

func TestLine(t *testing.T) {
	err := errors.New("Get \"http://u:SECRET@h/?k=SECRET\": dial\n\x1b[31mtcp")
	if got := Line(err); got != `Get "http://h/": dial tcp` {
		t.Errorf("%q", got)
	}
}

// A recording is judged as its run was, but for what is asked for anew.
func TestRecall(t *testing.T) {
	run := mustParse(t, nil, "h:1", "--slo", "gap<=50ms:99%", "--max-error-rate", "1%", "--retention", "1h", "--exclude-late")
	judge := run.Config(nil).Judge
	again := mustParse(t, nil, "report", "-")
	again.Recall(nil)
	if len(again.Stats().SLO) != 0 {
		t.Error("a service level out of nothing")
	}
	again.Recall(&judge)
	if diff := cmp.Diff(run.Stats(), again.Stats()); diff != "" {
		t.Error(diff)
	}
	other := mustParse(t, nil, "report", "-", "--slo", "ttft<1s", "--retention", "2h")
	judge.SLO = append(judge.SLO, "nonsense")
	other.Recall(&judge)
	if s := other.Stats(); len(s.SLO) != 1 || s.SLO[0].Metric != "ttft" || s.Retention != 2*time.Hour || !s.ExcludeLate {
		t.Errorf("%+v", s)
	}
	foreign := mustParse(t, nil, "report", "-")
	foreign.Recall(&event.Judge{SLO: []string{"nonsense"}, MaxErrorRate: "much", Retention: -1})
	if s := foreign.Stats(); len(s.SLO) != 0 || s.MaxErrorRate >= 0 || s.Retention != 15*time.Minute {
		t.Errorf("%+v", s)
	}
}
