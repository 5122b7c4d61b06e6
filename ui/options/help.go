package options

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

const helpWidth = 79

// flags returns the flags of the command in the order of Options, without the
// hidden ones.
func (p *parser) flags() []*kong.Flag {
	var out []*kong.Flag
	c := Command(p.command())
	if c == "demo" {
		c = Watch
	}
	for _, f := range p.kong.Model.Flags {
		if !f.Hidden && appliesTo(f, c) {
			out = append(out, f)
		}
	}
	return out
}

// help writes the help of the command that was named, or of teapot as a whole.
func (p *parser) help() string {
	var b strings.Builder
	b.WriteString(usage(p.command(), p.named()))
	group := ""
	for _, f := range p.flags() {
		if f.Group != nil && f.Group.Key != group {
			group = f.Group.Key
			fmt.Fprintf(&b, "\n%s:\n", groupTitle(group))
		}
		b.WriteString(helpFlag(f))
	}
	b.WriteString(p.helpEnd())
	return b.String()
}

// named tells whether the command was written out.
func (p *parser) named() bool {
	for _, a := range p.ctx.Args {
		if a == p.command() {
			return true
		}
	}
	return false
}

// helpEnd is what holds for the flags of a command as a whole.
func (p *parser) helpEnd() string {
	has := map[string]bool{}
	for _, f := range p.flags() {
		has[f.Name] = true
	}
	text := `
Every flag has an environment variable (--log: TEAPOT_LOG) and a key in the
settings file (log = "teapot.log"). A flag beats the environment, which beats
the file.
`
	if has["api-key-env"] {
		text += `
Keys are not taken from the command line: one comes from OPENAI_API_KEY or the
variable that --api-key-env names.
`
	}
	if has["concurrency"] {
		text += `
Without -c, -n, -d and --rate there is a pause of 250 ms between requests;
with any of them there is none.
`
	}
	codes := "Exit codes: 0 ended, 1 failed"
	if has["concurrency"] {
		codes += " or never answered"
	}
	codes += ", 2 wrong usage"
	switch {
	case has["slo"]:
		codes += ", 3 a service level was missed"
	case has["fail-if"]:
		codes += ", 3 a condition holds"
	}
	codes += "; 129, 130, 131, 143 by a signal."
	return text + "\n" + strings.Join(wrap(codes, helpWidth), "\n") + "\n"
}

// usage is the head of a help text.
func usage(command string, named bool) string {
	switch {
	case command == "demo":
		return `Usage: teapot demo [PROFILE] [flags]

Watch the built-in engine. tour, the default, lets something happen about
every 15 seconds; others are article, smooth, prefill and preemption.

  teapot demo
  teapot demo article -c 8
`
	case command == "report":
		return `Usage: teapot report URL... [flags]
       teapot report FILE [flags]
       teapot report FILE FILE... --merge [flags]

Measure without a screen, then write a report; or write that of a recording,
- for standard input, which is the same to the last digit. With --merge the
samples of several recordings of the same time are added up.

  teapot report http://localhost:8000 -d 60s -c 4
  teapot report https://gpu07/v1 -n 500 --slo 'gap<=50ms:99%' -o run.json
  teapot report demo:article -c 8 -d 40s --output-format markdown
  teapot report run.teapot -o run.json
  teapot report gpu07.teapot gpu08.teapot --merge
`
	case command == "replay":
		return `Usage: teapot replay FILE [flags]

Show a recording as if it happened now. FILE - reads standard input. p pauses,
[ and ] halve and double the speed, < and > go 10 s back and forth, { and } a
minute, , and . a second, J to the cursor, 0 to the beginning.

  teapot replay run.teapot
  teapot replay run.teapot --speed 4
  ssh gpu07 teapot probe localhost:8000 | teapot replay -
`
	case command == "export":
		return `Usage: teapot export FILE [flags]

Write a recording in the format of another tool. FILE - reads standard input.

  teapot export run.teapot --to trace -o run.json     open it at ui.perfetto.dev
  teapot export run.teapot --to csv -o tokens.csv
  teapot export run.teapot --to hlog -o run.hlog
  teapot export run.teapot --to vllm
`
	case command == "compare":
		return `Usage: teapot compare A B [flags]

Hold run B against run A. Each is a recording (--record, probe) or a JSON
report (-o run.json): settings that differ, every figure with its change and
whether that is more than chance, causes side by side, a verdict.

  teapot compare before.json after.json
  teapot compare before.teapot after.json -o change.md
  teapot compare before.json after.json --fail-if 'gap.p99>+10%'
`
	case command == "probe":
		return `Usage: teapot probe URL... [flags]

Measure and write events to standard output: a recording, or a pipe into
teapot replay -. Text of replies goes into a pipe; into a file only with
--save-text.

  teapot probe http://localhost:8000 > run.teapot
  teapot probe http://localhost:8000 -c 4 -d 60s | teapot replay -
`
	case command == "engine":
		return `Usage: teapot engine [PROFILE] [flags]

Serve the built-in engine over HTTP: OpenAI's chat and completions, streamed,
/v1/models, /health and /metrics. Default profile: smooth.

  teapot engine article --addr 127.0.0.1:8000
  teapot engine preemption --seed 7 --truth truth.ndjson
  teapot engine smooth --addr 127.0.0.1:8000 --loading 20s
`
	case command == "selftest":
		return `Usage: teapot selftest [flags]

Read a server that writes tokens on a schedule and remembers when, for ten
seconds, and say how far the probe's gaps are from the server's on this
machine, and which percentiles may be believed.

  teapot selftest
  teapot selftest -d 30s --output-format json
`
	case command == "accuracy":
		return `Usage: teapot accuracy [flags]

The self-test at length: loads up to 256 streams, over HTTP, TLS, HTTP/2, a
unix socket and a link of 40 ms, with and without a screen, beside a C client
and two Python ones on aiohttp, which are built and installed on the way, where
there are cc and python3. It takes nine minutes, and the machine for itself.

  teapot accuracy -o docs/accuracy.md
  teapot accuracy --quick
`
	case named:
		return `Usage: teapot watch [URL...] [flags]

Watch an endpoint live. Without a URL the well-known local ports are tried.

  teapot watch http://localhost:8000
  teapot watch gpu07:8000 -c 4 --slo 'gap<=50ms:99%'
`
	}
	return `Usage: teapot [URL...] [flags]
       teapot COMMAND [flags]

Watch how smoothly an LLM endpoint streams its tokens, and where the slow ones
come from. Without a URL the well-known local ports are tried.

  teapot demo                        see it on the built-in engine
  teapot http://localhost:8000       watch an endpoint, gently
  teapot gpu07:8000 -c 4 --slo 'gap<=50ms:99%'

Commands (teapot COMMAND -h says more):
  watch [URL...]     the live screen; the default
  demo [PROFILE]     the live screen on the built-in engine
  report URL...      measure without a screen, then report
  report FILE...     the report of a recording, with --merge of several
  replay FILE        the screen of a recording, - for standard input
  export FILE        a recording as a trace, CSV, .hlog or vLLM's JSON
  compare A B        two runs, recordings or JSON reports, against each other
  probe URL...       events on standard output
  engine [PROFILE]   the built-in engine as a server for others
  selftest           how exact teapot is on this machine, in ten seconds
  accuracy           the same beside other clients, in nine minutes
`
}

func groupTitle(key string) string {
	switch key {
	case "load":
		return "Load"
	case "signals":
		return "Signals"
	case "request":
		return "Request"
	case "limits":
		return "Limits"
	case "stats":
		return "Statistics"
	case "output":
		return "Input and output"
	case "screen":
		return "Screen"
	}
	return "General"
}

// helpFlag writes one flag, its help beside it and wrapped.
func helpFlag(f *kong.Flag) string {
	const column = 29
	head := "      --" + f.Name
	if f.Short != 0 {
		head = "  -" + string(f.Short) + ", --" + f.Name
	}
	if !f.IsBool() && f.PlaceHolder != "" {
		head += " " + f.PlaceHolder
	}
	text := f.Help
	if f.HasDefault && f.Default != "0" && f.Default != "" {
		text += " (default " + f.Default + ")"
	}
	lines := wrap(text, helpWidth-column)
	var b strings.Builder
	if len(head) > column-2 {
		b.WriteString(head + "\n")
		head = ""
	}
	for _, l := range lines {
		fmt.Fprintf(&b, "%-*s%s\n", column, head, l)
		head = ""
	}
	return b.String()
}

// wrap breaks text at blanks into lines of at most width bytes.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
