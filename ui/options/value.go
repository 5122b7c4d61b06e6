package options

import (
	"fmt"
	"math"
	"net"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"teapot/stats"
)

// valueError is a value that a flag does not take. It is written by Parse,
// which knows where the value came from.
type valueError struct {
	flag string // long name
	why  string // one line, without a secret
}

func (e *valueError) Error() string { return "--" + e.flag + ": " + e.why }

// decoder reads every flag, wherever its value comes from: a raw text by the
// type of the field and the min, max, values and rule of its tags.
type decoder struct{}

// Decode implements kong.Mapper.
func (decoder) Decode(ctx *kong.DecodeContext, target reflect.Value) error {
	tok := ctx.Scan.Peek()
	if target.Kind() == reflect.Bool {
		return decodeBool(ctx, tok, target)
	}
	if missing(tok, target.Kind()) {
		return &valueError{ctx.Value.Name, "a value is missing" + example(ctx.Value.Tag)}
	}
	ctx.Scan.Pop()
	var raws []string
	switch v := tok.Value.(type) {
	case []string:
		raws = v
	default:
		raws = []string{fmt.Sprint(v)}
	}
	if target.Kind() != reflect.Slice && len(raws) != 1 {
		return &valueError{ctx.Value.Name, "it takes one value, not a list" + example(ctx.Value.Tag)}
	}
	for _, raw := range raws {
		if why := decodeOne(ctx.Value.Tag, raw, target); why != "" {
			return &valueError{ctx.Value.Name, why}
		}
	}
	return nil
}

// missing tells whether what follows a flag is no value but the next flag or
// the end of the line. A negative number is a value, to be refused as one.
func missing(tok kong.Token, kind reflect.Kind) bool {
	if tok.IsEOL() {
		return true
	}
	s, ok := tok.Value.(string)
	if !ok || tok.Type != kong.UntypedToken || len(s) < 2 || s[0] != '-' {
		return false
	}
	return kind == reflect.String || kind == reflect.Slice || s[1] != '.' && (s[1] < '0' || s[1] > '9') &&
		!strings.EqualFold(s, "-inf") && !strings.EqualFold(s, "-nan")
}

func decodeBool(ctx *kong.DecodeContext, tok kong.Token, target reflect.Value) error {
	if tok.Type != kong.FlagValueToken {
		target.SetBool(true)
		return nil
	}
	ctx.Scan.Pop()
	switch raw := fmt.Sprint(tok.Value); strings.ToLower(raw) {
	case "1", "true", "yes", "on":
		target.SetBool(true)
	case "0", "false", "no", "off":
		target.SetBool(false)
	default:
		return &valueError{ctx.Value.Name, quote(raw) + " is neither true nor false"}
	}
	return nil
}

// decodeOne puts one raw value into a field; why says what is wrong with it.
func decodeOne(tag *kong.Tag, raw string, target reflect.Value) (why string) {
	switch target.Interface().(type) {
	case int:
		return decodeInt(tag, raw, target)
	case uint64:
		n, err := strconv.ParseUint(raw, 10, 64)
		if err != nil {
			return quote(raw) + " is not a whole number from 0 to 18446744073709551615" + example(tag)
		}
		target.SetUint(n)
	case float64:
		return decodeFloat(tag, raw, target)
	case time.Duration:
		return decodeDuration(tag, raw, target)
	case string:
		s, why := checkText(tag, raw)
		if why != "" {
			return why
		}
		target.SetString(s)
	case []string:
		if _, why := checkText(tag, raw); why != "" {
			return why
		}
		target.Set(reflect.Append(target, reflect.ValueOf(raw)))
	default:
		return fmt.Sprintf("a %s cannot be read", target.Type())
	}
	return ""
}

func decodeInt(tag *kong.Tag, raw string, target reflect.Value) (why string) {
	n, err := strconv.ParseInt(raw, 10, 64)
	lo, _ := strconv.ParseInt(tag.Get("min"), 10, 64)
	hi, _ := strconv.ParseInt(tag.Get("max"), 10, 64)
	switch {
	case err != nil && strings.Trim(strings.TrimPrefix(raw, "-"), "0123456789") != "", raw == "" || raw == "-":
		return quote(raw) + " is not a whole number" + example(tag)
	case err != nil || n < lo || n > hi:
		return fmt.Sprintf("%s is outside %d to %d%s", quote(raw), lo, hi, example(tag))
	}
	target.SetInt(n)
	return ""
}

func decodeFloat(tag *kong.Tag, raw string, target reflect.Value) (why string) {
	v, err := strconv.ParseFloat(raw, 64)
	lo, _ := strconv.ParseFloat(tag.Get("min"), 64)
	hi, _ := strconv.ParseFloat(tag.Get("max"), 64)
	switch {
	case math.IsNaN(v) || err != nil && !math.IsInf(v, 0):
		return quote(raw) + " is not a number" + example(tag)
	case err != nil || v < lo || v > hi:
		return fmt.Sprintf("%s is outside %s to %s%s", quote(raw), tag.Get("min"), tag.Get("max"), example(tag))
	}
	target.SetFloat(v)
	return ""
}

func decodeDuration(tag *kong.Tag, raw string, target reflect.Value) (why string) {
	d, err := time.ParseDuration(raw)
	lo, _ := time.ParseDuration(tag.Get("min"))
	hi, _ := time.ParseDuration(tag.Get("max"))
	if _, e := strconv.ParseFloat(raw, 64); err != nil && e == nil && raw[len(raw)-1] <= '9' {
		return fmt.Sprintf("'%s' has no unit: write %ss for seconds%s", raw, raw, example(tag))
	}
	switch {
	case err != nil && durationShape.MatchString(raw), err == nil && (d < lo || d > hi) && !(d == 0 && tag.Has("zero")):
		return fmt.Sprintf("%s is outside %s to %s%s", quote(raw), tag.Get("min"), tag.Get("max"), example(tag))
	case err != nil:
		return quote(raw) + " is not a length of time" + example(tag)
	}
	target.SetInt(int64(d))
	return ""
}

// checkText checks a text by its values and its rule, and returns it in its
// normal form.
func checkText(tag *kong.Tag, raw string) (s, why string) {
	if tag.Has("values") {
		values := strings.Split(tag.Get("values"), ",")
		if !slices.Contains(values, raw) {
			known := strings.Trim(strings.Join(values, ", "), ", ")
			return "", quote(raw) + " is none of " + known + nearest(raw, values)
		}
		return raw, ""
	}
	switch tag.Get("rule") {
	case "slo":
		if _, err := ParseSLOs(raw); err != nil {
			return "", err.Error()
		}
	case "condition":
		if _, err := ParseCondition(raw); err != nil {
			return "", err.Error()
		}
	case "signals":
		return checkSignals(tag, raw)
	case "share":
		if _, err := parseShare(raw); err != nil && raw != "" {
			return "", err.Error()
		}
	case "window":
		return checkWindow(raw)
	case "header":
		return raw, checkHeader(raw)
	case "env-name":
		if raw != "" && !envName.MatchString(raw) {
			return "", "it takes the name of an environment variable, e.g. OPENAI_API_KEY (what was given is not shown: it may be a key)"
		}
	case "addr", "listen":
		if raw == "" && tag.Get("rule") == "listen" {
			break // nothing listens
		}
		if host, port, err := net.SplitHostPort(raw); err != nil || !digits(port) || strings.ContainsAny(host, " /") {
			return "", quote(raw) + " is not HOST:PORT" + example(tag)
		} else if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > math.MaxUint16 {
			return "", quote(raw) + " has a port above 65535" + example(tag)
		}
	default:
		if strings.ContainsRune(raw, 0) {
			return "", "it has a zero byte in it"
		}
	}
	return raw, ""
}

var (
	// durationShape is a length of time as to its form: when it cannot be read
	// all the same, it is too long.
	durationShape = regexp.MustCompile(`^[-+]?([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`)

	envName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// checkHeader checks a "Name: value". A value may be a secret and is never
// part of the message.
func checkHeader(raw string) (why string) {
	name, value, ok := strings.Cut(raw, ":")
	switch {
	case !ok || !headerName.MatchString(name):
		return "a header is written 'Name: value' (what was given is not shown: it may be a key)"
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "the value of " + quote(name) + " has a control character in it"
	}
	for _, own := range []string{"Content-Length", "Transfer-Encoding", "Connection", "Accept-Encoding", "Upgrade", "Host"} {
		if strings.EqualFold(own, name) {
			return own + " is teapot's own to set"
		}
	}
	return ""
}

func checkWindow(raw string) (s, why string) {
	if d, err := time.ParseDuration(raw); err == nil {
		for _, w := range stats.Windows {
			if d == w {
				return raw, ""
			}
		}
	}
	return "", quote(raw) + " is none of 10s, 1m, 5m, 15m"
}

// parseShare reads "1%" or "0.01": a share between 0 and 1.
func parseShare(raw string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(raw), "%")
	v, err := decimal(number)
	if err != nil {
		return 0, fmt.Errorf("%s is neither a percentage nor a share, e.g. 1%% or 0.01", quote(raw))
	}
	if percent {
		v /= 100
	}
	if v > 1 {
		return 0, fmt.Errorf("%s is more than everything; write 1%% or 0.01 for one in a hundred", quote(raw))
	}
	return v, nil
}

func example(tag *kong.Tag) string {
	if eg := tag.Get("eg"); eg != "" {
		return ", e.g. " + eg
	}
	return ""
}
