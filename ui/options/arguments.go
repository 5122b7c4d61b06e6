package options

import (
	"slices"
	"strings"
)

// arguments checks what stands beside the flags.
func (p *parser) arguments(word string) error {
	o, g := &p.grammar.Options, &p.grammar
	switch word {
	case "demo":
		return o.demo(g.Demo.Profile)
	case "report":
		return p.report(g.Report.URL)
	case "probe":
		if o.Child && len(g.Probe.URL) == 0 {
			return nil // its parent says everything on standard input
		}
		return o.endpoints(g.Probe.URL, "probe needs a URL, e.g. teapot probe http://localhost:8000 > run.teapot")
	case "replay":
		return o.recording("replay", g.Replay.File)
	case "export":
		return o.recording("export", g.Export.File)
	case "compare":
		return o.compare(g.Compare.File)
	case "engine":
		return o.engine(g.Engine.Profile)
	case "selftest", "accuracy":
		return nil
	}
	return o.endpoints(g.Watch.URL, "")
}

// endpoints takes the URLs of a command; none is what to say when there are
// none, "" when that is fine.
func (o *Options) endpoints(urls []string, none string) error {
	if len(urls) == 0 && none != "" {
		return usagef("%s", none)
	}
	if len(urls) > maxTargets {
		return usagef("%d URLs were given; at most %d are watched at once", len(urls), maxTargets)
	}
	for i, raw := range urls {
		if bareWord(raw) {
			return wrongWord(raw, i)
		}
		u, err := CheckURL(raw)
		if err != nil {
			return err
		}
		if slices.Contains(o.URLs, u) {
			return usagef("%s is given twice", quote(Redact(u)))
		}
		o.URLs = append(o.URLs, u)
	}
	return nil
}

// wrongWord says what a word that is no URL should have been.
func wrongWord(word string, position int) error {
	switch {
	case slices.Contains(commandNames(), word) && position > 0:
		return usagef("'%s' is a command and comes before the URL, e.g. teapot %s http://localhost:8000", word, word)
	case nearest(word, commandNames()) != "":
		return usagef("%s is neither a command nor a URL%s", quote(word), nearest(word, commandNames()))
	}
	return usagef("%s is neither a command (%s) nor a URL; a host alone is written http://%s:8000",
		quote(word), strings.Join(commandNames(), ", "), strings.Trim(quote(word), "'"))
}

// demo takes the profile of teapot demo.
func (o *Options) demo(args []string) error {
	if len(args) > 1 {
		return usagef("demo takes one profile, e.g. teapot demo article")
	}
	profile := defaultDemo
	if len(args) == 1 {
		profile = strings.TrimPrefix(args[0], demoScheme)
		if strings.ContainsAny(profile, ":/.") {
			return usagef("demo takes the name of a profile, e.g. teapot demo article; an endpoint is watched with teapot URL")
		}
	}
	u, err := CheckURL(demoScheme + profile)
	o.URLs = []string{u}
	return err
}

func (o *Options) engine(args []string) error {
	if len(args) > 1 {
		return usagef("engine takes one profile, e.g. teapot engine article --addr 127.0.0.1:8000")
	}
	o.Profile = "smooth"
	if len(args) == 1 {
		u, err := CheckURL(demoScheme + strings.TrimPrefix(args[0], demoScheme))
		if err != nil {
			return err
		}
		o.Profile, _ = Demo(u)
	}
	return nil
}

// recording takes the file of a command that reads one.
func (o *Options) recording(command string, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("%s needs a recording, e.g. teapot %s run.teapot, or - for standard input", command, command)
	case len(args) > 1:
		return usagef("%s takes one recording, e.g. teapot %s run.teapot", command, command)
	}
	o.File = args[0]
	return o.canRead(command, args)
}

// canRead tells which of the recordings of a command cannot be read.
func (o *Options) canRead(command string, files []string) error {
	for _, f := range files {
		if f == "-" {
			continue
		}
		if err := readable(f); err != nil {
			return usagef("%s: %v", command, err)
		}
	}
	return nil
}
