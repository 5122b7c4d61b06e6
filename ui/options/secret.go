package options

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"teapot/ui/format"
)

// Line is an error as one line that may be shown and logged: without control
// characters, and its URLs without userinfo and query.
// Errors that were joined stand one after the other, each said once.
func Line(err error) string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(joined.Unwrap()...).Error() != err.Error() {
		return clean(err.Error()) // one error, or a sentence about several
	}
	var said []string
	for _, e := range joined.Unwrap() {
		line := Line(e)
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, line) }) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}

func clean(s string) string { return format.Clean(format.RedactText(s)) }

var keyFlag = regexp.MustCompile(`(?i)^--?(open-?ai[-_]?)?(api[-_]?key|key|api[-_]?token|token|bearer|auth(orization)?)(=.*)?$`)

// keyOnCommandLine refuses a key among the arguments, which every user of the
// machine can read. It never repeats what was given.
func keyOnCommandLine(args []string) error {
	for i, a := range args {
		if a == "--" {
			return nil
		}
		if keyFlag.MatchString(a) {
			return usagef("keys are not taken from the command line, where others can read them: put it into OPENAI_API_KEY, or name another variable with --api-key-env NAME")
		}
		header, ok := strings.CutPrefix(a, "--header=")
		if !ok {
			header, ok = strings.CutPrefix(a, "-H")
		}
		if (a == "-H" || a == "--header") && i+1 < len(args) {
			header, ok = args[i+1], true
		}
		if name, _, found := strings.Cut(header, ":"); ok && found && secretHeader(strings.TrimLeft(name, " =")) {
			return usagef("-H: keys are not taken from the command line, where others can read them: put the key into OPENAI_API_KEY or the variable that --api-key-env names, or the whole header into TEAPOT_HEADER")
		}
	}
	return nil
}

func secretHeader(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie":
		return true
	}
	return false
}
