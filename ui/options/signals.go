package options

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// page tells whether a value of --server-metrics or --gpu is the address of a
// page.
func page(v string) bool { return strings.Contains(v, "://") }

// checkSignals checks what is to be looked at: one of the words of a flag, or
// the address of a page, which it returns in its normal form.
func checkSignals(tag *kong.Tag, raw string) (s, why string) {
	words := strings.Split(tag.Get("words"), ",")
	if slices.Contains(words, raw) {
		return raw, ""
	}
	if !strings.ContainsAny(raw, ".:/") {
		return "", fmt.Sprintf("%s is none of %s, and no URL%s%s", quote(raw), strings.Join(words, ", "), nearest(raw, words), example(tag))
	}
	u, err := CheckURL(raw)
	if err != nil {
		return "", err.Error()
	}
	if !strings.HasPrefix(u, "http://") && !strings.HasPrefix(u, "https://") {
		return "", "a page is read by http or https" + example(tag)
	}
	return u, ""
}

// checkPassive refuses what is for requests where none are made.
func checkPassive(given func(name string) bool) error {
	for _, name := range []string{
		"concurrency", "rate", "requests", "warmup", "arrival", "max-total-tokens",
		"prompt", "prompt-file", "max-tokens", "prompt-tokens", "slo",
	} {
		if given(name) {
			return usagef("--passive makes no request: leave out --%s", name)
		}
	}
	return nil
}
