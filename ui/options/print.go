package options

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"teapot/ui/format"
)

// printConfig writes the settings in force as TOML, each with where it came
// from; the text is a settings file that gives them again. Headers, which may
// hold keys, and what is not set stand in comments. The load settings whose
// absence means something (the pause) are comments too as long as they are
// defaults.
func (p *parser) printConfig() string {
	o := &p.grammar.Options
	var b strings.Builder
	fmt.Fprintf(&b, "# teapot %s: settings of teapot %s\n", VersionString(), p.command())
	for _, u := range o.URLs {
		fmt.Fprintf(&b, "# endpoint %s\n", format.Clean(Redact(u)))
	}
	group := ""
	for _, f := range p.flags() {
		if !inFile(f.Name) {
			continue
		}
		if f.Group != nil && f.Group.Key != group {
			group = f.Group.Key
			fmt.Fprintf(&b, "\n# %s\n", groupTitle(group))
		}
		b.WriteString(o.printFlag(f))
	}
	return b.String()
}

func (o *Options) printFlag(f *kong.Flag) string {
	origin := o.Origin(f.Name)
	if f.Name == "header" && len(o.Header) > 0 {
		names := make([]string, 0, len(o.Header))
		for _, h := range o.Header {
			name, _, _ := strings.Cut(h, ":")
			names = append(names, tomlString(name+": (hidden)"))
		}
		return fmt.Sprintf("# header = [%s]  # %s\n", strings.Join(names, ", "), origin)
	}
	if s := f.Target.String(); f.Tag.Get("rule") == "signals" && Redact(s) != s {
		return fmt.Sprintf("# %s = %s  # %s; a part is hidden\n", f.Name, tomlString(Redact(s)), origin)
	}
	v, unset := tomlValue(f.Target)
	if unset {
		return fmt.Sprintf("# %s is not set\n", f.Name)
	}
	line := fmt.Sprintf("%-34s # %s\n", f.Name+" = "+v, origin)
	if origin.Kind == FromDefault {
		switch f.Name {
		case "concurrency", "requests", "duration", "rate", "output-format":
			return "# " + line
		}
	}
	return line
}

// tomlValue writes the value of a field as TOML; unset tells that there is
// none.
func tomlValue(v reflect.Value) (s string, unset bool) {
	switch x := v.Interface().(type) {
	case bool:
		return strconv.FormatBool(x), false
	case int:
		return strconv.Itoa(x), false
	case uint64:
		if x > 1<<63-1 {
			return tomlString(strconv.FormatUint(x, 10)), false // TOML's integers are signed
		}
		return strconv.FormatUint(x, 10), false
	case float64:
		s := strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s, false
	case time.Duration:
		return tomlString(shortDuration(x)), false
	case string:
		return tomlString(x), x == ""
	case []string:
		items := make([]string, len(x))
		for i, e := range x {
			items[i] = tomlString(e)
		}
		return "[" + strings.Join(items, ", ") + "]", len(x) == 0
	}
	return "", true
}

// tomlString writes a basic string. Go's escapes are TOML's but for \x, \a
// and \v, which are control characters or not UTF-8.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x200b && r <= 0x206f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shortDuration is Duration.String without the units that are zero: "10m",
// not "10m0s".
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
