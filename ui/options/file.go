package options

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

const maxConfig = 1 << 20 // bytes of a settings file

// fileValue is one key of the settings file.
type fileValue struct {
	raw  any // string or []string
	line int // from 1
}

// configPath is the settings file to read when none was named: "" where the
// environment knows neither XDG_CONFIG_HOME nor HOME.
func configPath(env func(string) string) string {
	if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "teapot", "config.toml")
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".config", "teapot", "config.toml")
	}
	return ""
}

// readConfig reads a settings file: keys are the long names of flags. A file
// that is not there is an error only when it was asked for. Errors name the
// file and the line.
func readConfig(path string, asked bool, known []string) (map[string]fileValue, error) {
	text, err := readSmall(path, maxConfig)
	if errors.Is(err, os.ErrNotExist) && !asked {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings file: %w", err)
	}
	values := map[string]any{}
	if _, err := toml.Decode(text, &values); err != nil {
		var pe toml.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf("%s:%d: %s", path, pe.Position.Line, strings.ReplaceAll(pe.Message, "\n", " "))
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	isKnown := map[string]bool{}
	for _, k := range known {
		isKnown[k] = true
	}
	out := map[string]fileValue{}
	for _, k := range inOrder(values, text) {
		line := lineOf(text, k)
		if keyFlag.MatchString("--" + k) {
			return nil, fmt.Errorf("%s:%d: a key never stands in the settings file: put it into OPENAI_API_KEY, or name another variable with api-key-env", path, line)
		}
		if !isKnown[k] {
			return nil, fmt.Errorf("%s:%d: unknown key %s%s", path, line, quote(k), nearest(k, known))
		}
		raw, ok := rawValue(values[k])
		if !ok {
			return nil, fmt.Errorf("%s:%d: %s: neither a text, a number, true, false nor a list of texts", path, line, k)
		}
		out[k] = fileValue{raw, line}
	}
	return out, nil
}

// inOrder returns the keys by the line they stand on, so that the first wrong
// one is the one reported.
func inOrder(values map[string]any, text string) []string {
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, b := lineOf(text, keys[i]), lineOf(text, keys[j])
		return a < b || a == b && keys[i] < keys[j]
	})
	return keys
}

// lineOf finds the line on which a top-level key or table begins: the first
// that looks like it and does not stand inside a longer value, which shows in
// that the text before it is whole. 1 when it is written in an unusual way.
func lineOf(text, key string) int {
	q := regexp.QuoteMeta(key)
	looks, err := regexp.Compile(`^\s*(\[+\s*)?["']?` + q + `["']?\s*[=.\]]`)
	if err != nil {
		return 1
	}
	at := 0
	for i, line := range strings.SplitAfter(text, "\n") {
		if looks.MatchString(line) {
			var before map[string]any
			if _, err := toml.Decode(text[:at], &before); err == nil {
				return i + 1
			}
		}
		at += len(line)
	}
	return 1
}

// rawValue turns a TOML value into what would stand on the command line.
func rawValue(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case []any:
		list := make([]string, 0, len(v))
		for _, e := range v {
			raw, ok := rawValue(e)
			s, isText := raw.(string)
			if !ok || !isText {
				return nil, false
			}
			list = append(list, s)
		}
		return list, true
	case time.Time:
		return nil, false
	}
	return nil, false
}

// readSmall reads a text file of at most limit bytes.
func readSmall(path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	if int64(len(b)) > limit {
		return "", fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return string(b), nil
}
