package signals

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// series is one line of a page: a value and the labels it stands for.
type series struct {
	labels string // as written between the braces
	value  float64
}

// page is what is wanted of a page in the Prometheus text format, by the names
// of the metrics in their plain spelling.
type page struct {
	series map[string][]series
	models map[string]bool // that the labels name
	lines  int             // that could be read, wanted or not
}

// plain is the spelling under which metrics are compared: exporters and
// collectors write a colon as an underscore.
func plain(name string) string { return strings.ReplaceAll(name, ":", "_") }

// appendPlain appends the plain spelling of a name.
func appendPlain(dst, name []byte) []byte {
	for _, c := range name {
		if c == ':' {
			c = '_'
		}
		dst = append(dst, c)
	}
	return dst
}

// readPage reads the lines whose plain name is wanted. Lines that it cannot
// read it passes over, as it does comments, timestamps and exemplars. It makes
// no garbage of what is not wanted: the process that reads it measures.
func readPage(body []byte, wanted map[string]bool) page {
	p := page{series: map[string][]series{}, models: map[string]bool{}}
	var key []byte
	for raw := range bytes.Lines(body) {
		line := bytes.TrimSpace(raw)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		name, labels, rest, ok := split(line)
		if !ok {
			continue
		}
		value, ok := number(rest)
		if !ok {
			continue
		}
		p.lines++
		if key = appendPlain(key[:0], name); !wanted[string(key)] {
			continue
		}
		s := series{labels: string(labels), value: value}
		if m := modelOf(s.labels); m != "" && !p.models[m] {
			p.models[m] = true
		}
		if have := p.series[string(key)]; have != nil {
			p.series[string(key)] = append(have, s)
		} else {
			p.series[string(key)] = []series{s}
		}
	}
	return p
}

// split takes a line apart into the name, what is between the braces, and what
// follows.
func split(line []byte) (name, labels, rest []byte, ok bool) {
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 || bytes.IndexByte(line[:end], '"') >= 0 {
		return nil, nil, nil, false
	}
	name, rest = line[:end], bytes.TrimLeft(line[end:], " \t")
	if len(rest) == 0 || rest[0] != '{' {
		return name, nil, rest, true
	}
	quoted := false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '}' && !quoted:
			return name, rest[1:i], rest[i+1:], true
		}
	}
	return nil, nil, nil, false
}

// number reads the value in front of an optional timestamp.
func number(rest []byte) (float64, bool) {
	rest = bytes.TrimLeft(rest, " \t")
	if end := bytes.IndexAny(rest, " \t"); end >= 0 {
		rest = rest[:end]
	}
	v, err := strconv.ParseFloat(string(rest), 64)
	return v, err == nil
}

// label finds the value of a label, "" where there is none.
func label(labels, key string) string {
	for rest := labels; rest != ""; {
		eq := strings.IndexByte(rest, '=')
		if eq < 0 {
			return ""
		}
		name := strings.Trim(rest[:eq], " \t,")
		value, after, ok := unquote(strings.TrimLeft(rest[eq+1:], " \t"))
		if !ok {
			return ""
		}
		if name == key {
			return value
		}
		rest = after
	}
	return ""
}

// unquote reads a label's value and what follows it.
func unquote(text string) (value, after string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	if i := strings.IndexAny(text[1:], `"\`); i >= 0 && text[1+i] == '"' {
		return text[1 : 1+i], text[2+i:], true // nothing is escaped
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
			if text[i] == 'n' {
				b.WriteByte('\n')
			} else {
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// modelOf is the model that a series is of, by the labels that engines use.
func modelOf(labels string) string {
	for _, key := range [...]string{"model_name", "model"} {
		if m := label(labels, key); m != "" {
			return m
		}
	}
	return ""
}

// keep leaves the series of one model, where the page tells it from others.
func (p *page) keep(model string) {
	if len(p.models) < 2 || !p.models[model] {
		return
	}
	for name, all := range p.series {
		var mine []series
		for _, s := range all {
			if m := modelOf(s.labels); m == "" || m == model {
				mine = append(mine, s)
			}
		}
		p.series[name] = mine
	}
}

// finite tells whether a value is a number that can be counted with.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
