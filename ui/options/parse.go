package options

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"teapot/probe/event"
)

// The exit codes that Parse can end with; GoOn is none.
const (
	GoOn      = -1
	ExitOK    = 0
	ExitUsage = 2
)

// Release is the version of teapot; a build from a checkout adds its revision.
const Release = "0.1.0"

// maxTargets bounds the endpoints of one run: each has its rings and its
// place on the screen.
const maxTargets = 4

// grammar is what kong reads: the flags, which may stand anywhere, and the
// commands with their arguments. Which flags mean something on which command,
// and how many arguments it needs, is checked afterwards, with better words.
type grammar struct {
	Options
	Watch struct {
		URL []string `arg:"" optional:""`
	} `cmd:"" default:"withargs"`
	Demo struct {
		Profile []string `arg:"" optional:""`
	} `cmd:""`
	Report struct {
		URL []string `arg:"" optional:""`
	} `cmd:""`
	Replay struct {
		File []string `arg:"" optional:""`
	} `cmd:""`
	Export struct {
		File []string `arg:"" optional:""`
	} `cmd:""`
	Compare struct {
		File []string `arg:"" optional:""`
	} `cmd:""`
	Probe struct {
		URL []string `arg:"" optional:""`
	} `cmd:""`
	Engine struct {
		Profile []string `arg:"" optional:""`
	} `cmd:""`
	SelfTest struct{} `cmd:"" name:"selftest"`
	Accuracy struct{} `cmd:""`
}

func commandNames() []string {
	return []string{"watch", "demo", "report", "replay", "compare", "export", "probe", "engine", "selftest", "accuracy"}
}

// Parse reads the arguments (without the program's name), the environment and
// the settings file. It returns the options and GoOn; or nil and the code to
// exit with, after it wrote what was asked for (help, version, settings) to
// stdout or one line about what is wrong to stderr.
func Parse(args []string, env func(string) string, stdout, stderr io.Writer) (*Options, int) {
	p, err := newParser(env)
	if err == nil {
		err = p.parse(args)
	}
	if err != nil {
		fmt.Fprintln(stderr, "teapot: "+clean(p.explain(err)))
		return nil, ExitUsage
	}
	o := &p.grammar.Options
	switch {
	case o.Help:
		io.WriteString(stdout, p.help())
		return nil, ExitOK
	case o.Version:
		fmt.Fprintln(stdout, "teapot "+VersionString())
		return nil, ExitOK
	}
	if err := p.finish(); err != nil {
		fmt.Fprintln(stderr, "teapot: "+Line(err))
		return nil, ExitUsage
	}
	if o.PrintConfig {
		io.WriteString(stdout, p.printConfig())
		return nil, ExitOK
	}
	return o, GoOn
}

// VersionString is teapot's version with the revision it was built from, where
// that is known, and the platform.
func VersionString() string {
	v := Release
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v += "+" + s.Value[:12]
			}
		}
	}
	return v + " " + runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()
}

// parser is one run of Parse.
type parser struct {
	env     func(string) string
	grammar grammar
	kong    *kong.Kong
	ctx     *kong.Context
	origins map[string]Origin
}

func newParser(env func(string) string) (*parser, error) {
	p := &parser{env: env, origins: map[string]Origin{}}
	var err error
	p.kong, err = kong.New(&p.grammar,
		kong.Name("teapot"), kong.NoDefaultHelp(), kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard),
		kong.NamedMapper("opt", decoder{}),
		kong.Resolvers(&resolver{env: env, origins: p.origins}))
	return p, err
}

func (p *parser) parse(args []string) error {
	if err := keyOnCommandLine(args); err != nil {
		return err
	}
	ctx, err := p.kong.Parse(args)
	if err != nil {
		return err
	}
	p.ctx = ctx
	for _, path := range ctx.Path {
		if path.Flag != nil && !path.Resolved {
			p.origins[path.Flag.Name] = Origin{Kind: FromFlag}
		}
	}
	p.grammar.origins = p.origins
	return nil
}

// explain puts an error of the parser into teapot's words.
func (p *parser) explain(err error) string {
	var ve *valueError
	var ue *usageError
	switch {
	case errors.As(err, &ue):
		return ue.msg
	case errors.As(err, &ve):
		switch o := p.origins[ve.flag]; o.Kind {
		case FromEnv:
			return o.Where + ": " + ve.why
		case FromFile:
			return o.Where + ": " + ve.flag + ": " + ve.why
		}
		return ve.Error()
	}
	msg := strings.ReplaceAll(err.Error(), `"`, "'")
	what, meant, found := strings.Cut(msg, ", did you mean ")
	switch {
	case !strings.HasPrefix(msg, "unknown flag"):
		return msg
	case found && strings.HasPrefix(what, "unknown flag --"):
		return what + "; did you mean " + meant
	}
	return what + "; teapot -h lists them" // every letter resembles every other
}

// command is the word of the command line.
func (p *parser) command() string {
	if n := p.ctx.Selected(); n != nil {
		return n.Name
	}
	return string(Watch)
}

// finish checks what only makes sense together, and fills in what follows
// from it.
func (p *parser) finish() error {
	o := &p.grammar.Options
	word := p.command()
	o.Command = Command(word)
	if word == "demo" {
		o.Command = Watch
	}
	if err := p.checkFlags(); err != nil {
		return err
	}
	if err := p.arguments(word); err != nil {
		return err
	}
	if err := o.loadPrompts(); err != nil {
		return err
	}
	if err := o.checkFiles(); err != nil {
		return err
	}
	if err := o.checkOverwrites(); err != nil {
		return err
	}
	if o.keyEnv = o.APIKeyEnv; o.keyEnv == "" && p.env("OPENAI_API_KEY") != "" {
		o.keyEnv = "OPENAI_API_KEY"
	} else if o.keyEnv != "" && p.env(o.keyEnv) == "" {
		return usagef("--api-key-env: the environment variable it names is not set")
	}
	o.narrow = narrow(p.env)
	o.fill()
	return nil
}

// fill gives the settings that depend on others their defaults.
func (o *Options) fill() {
	if o.Rate > 0 && !o.Given("concurrency") {
		o.Concurrency = 128
	}
	switch {
	case o.Given("duration"):
	case o.Command == Report && !o.Given("requests"):
		o.Duration = reportDuration
	case o.Command == SelfTest:
		o.Duration = selfTestDuration
	case o.Command == Accuracy && o.Quick:
		o.Duration = quickDuration
	case o.Command == Accuracy:
		o.Duration = accuracyDuration
	}
	if o.Quick && !o.Given("rounds") {
		o.Rounds = 1
	}
	if o.OutputFormat == "" {
		o.OutputFormat = formatOf(o.Output)
	}
	if o.runSeed = o.Seed; o.runSeed == 0 {
		o.runSeed = 1 + rand.Uint64N(1<<53-1) // exact in JSON
	}
}

func formatOf(file string) string {
	switch lower := strings.ToLower(file); {
	case strings.HasSuffix(lower, ".json"):
		return "json"
	case strings.HasSuffix(lower, ".md"), strings.HasSuffix(lower, ".markdown"):
		return "markdown"
	}
	return "text"
}

// checkFlags refuses flags of the command line that mean nothing here. In the
// environment and in the file they may stand: those serve every command.
func (p *parser) checkFlags() error {
	for _, path := range p.ctx.Path {
		if path.Flag == nil || path.Resolved || appliesTo(path.Flag, p.grammar.Command) {
			continue
		}
		return usagef("--%s has no meaning for teapot %s; it is for %s", path.Flag.Name, p.command(),
			strings.ReplaceAll(path.Flag.Tag.Get("on"), " ", ", "))
	}
	given := func(name string) bool { return p.origins[name].Kind == FromFlag }
	if given("prompt-tokens") && (given("prompt") || given("prompt-file")) {
		return usagef("--prompt-tokens is for made-up prompts: leave it out, or leave out --prompt and --prompt-file")
	}
	if given("insecure") && given("cacert") {
		return usagef("--insecure accepts any certificate: leave it out, or leave out --cacert")
	}
	if given("arrival") && p.grammar.Rate == 0 {
		return usagef("--arrival spaces the requests of --rate: give --rate too, e.g. --rate 2")
	}
	switch {
	case !p.grammar.Passive:
	case p.grammar.ServerMetrics == event.MetricsOff:
		return usagef("--passive shows what the server says of itself: leave out --server-metrics off")
	default:
		return checkPassive(given)
	}
	return nil
}

func appliesTo(f *kong.Flag, c Command) bool {
	on := " " + f.Tag.Get("on") + " "
	return on == " all " || strings.Contains(on, " "+string(c)+" ")
}
