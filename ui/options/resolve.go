package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// EnvName returns the environment variable of a flag: TEAPOT_ and its long
// name in capitals.
func EnvName(flag string) string {
	return "TEAPOT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// usageError is what a person did wrong, said in one line.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// resolver gives the flags that are not on the command line their value from
// the environment, else from the settings file, and notes where each came from.
type resolver struct {
	env     func(string) string
	origins map[string]Origin
	file    map[string]fileValue
	path    string
	loaded  bool
}

// Validate implements kong.Resolver.
func (*resolver) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (r *resolver) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	if !settable(flag.Name) {
		return nil, nil
	}
	if raw := r.env(EnvName(flag.Name)); raw != "" {
		r.origins[flag.Name] = Origin{FromEnv, EnvName(flag.Name)}
		if flag.IsSlice() {
			return splitList(flag.Name, raw), nil
		}
		return raw, nil
	}
	v, ok := r.file[flag.Name]
	if !ok || v.raw == "" {
		return nil, nil
	}
	r.origins[flag.Name] = Origin{FromFile, fmt.Sprintf("%s:%d", r.path, v.line)}
	return v.raw, nil
}

// settable tells whether a flag can be set elsewhere than on the command line.
func settable(name string) bool {
	return !slices.Contains([]string{"help", "version", "child", "serve", "work-dir"}, name)
}

// inFile tells whether a flag can be a key of the settings file.
func inFile(name string) bool {
	return settable(name) && name != "config" && name != "print-config"
}

// load reads the settings file once, unless only help or the version was asked
// for, which must work whatever the file holds.
func (r *resolver) load(ctx *kong.Context) error {
	if r.loaded {
		return nil
	}
	r.loaded = true
	var known []string
	path, asked := "", false
	for _, f := range ctx.Flags() {
		if inFile(f.Name) {
			known = append(known, f.Name)
		}
		switch v := ctx.FlagValue(f).(type) {
		case bool:
			if v && (f.Name == "help" || f.Name == "version") {
				return nil
			}
		case string:
			if f.Name == "config" {
				path = v
			}
		}
	}
	if path == "" {
		path = r.env(EnvName("config"))
	}
	if path != "" {
		asked = true
	} else if path = configPath(r.env); path == "" {
		return nil
	}
	r.path = path
	file, err := readConfig(path, asked, known)
	if err != nil {
		return &usageError{err.Error()}
	}
	r.file = file
	return nil
}

// splitList takes a list from an environment variable: an item a line, and for
// service levels and conditions, which hold no comma, also one a comma.
func splitList(flag, raw string) []string {
	var out []string
	for _, item := range strings.FieldsFunc(raw, func(c rune) bool {
		return c == '\n' || c == ',' && (flag == "slo" || flag == "fail-if")
	}) {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
