package api

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMessage is the length of a message in runes.
const maxMessage = 200

// maxRaw is how much of a server's text is looked at for a message, in bytes.
const maxRaw = 4096

// hidden stands in place of what looks like a secret.
const hidden = "[hidden]"

// Patterns of key material. Servers like to quote the key they refuse.
var (
	reBearer  = regexp.MustCompile(`(?i)\b(bearer|basic)\s+\S{5,}[^\s"',;]`)
	reNamed   = regexp.MustCompile(`(?i)\b(api[ _-]?key|key|token|secret|password|authorization)([a-z ]{0,12}["']?\s*[:=]\s*["']?)([^\s"',;]{6,})`)
	rePrefix  = regexp.MustCompile(`\b(sk|pk|rk|gsk|hf|nvapi|xai|csk|pplx|r8|fw|tgp)[-_][A-Za-z0-9_*.-]{6,}`)
	reGoogle  = regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{10,}`)
	reJWT     = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]+)*`)
	reLong    = regexp.MustCompile(`[A-Za-z0-9]{24,}`)
	reUser    = regexp.MustCompile(`://[^/\s@]+@`)
	reQuery   = regexp.MustCompile(`(https?://[^\s?"']*)\?[^\s"']*`)
	reControl = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|[PX^_][^\x1b]*(\x1b\\)?|[ -/]*[0-~])`)
)

// OneLine makes a text from a server fit to show: one line of at most 200
// runes, without control characters, terminal escapes, invisible format
// characters and whatever looks like a key. The secrets, where given, are
// taken out literally as well.
func OneLine(text string, secrets ...string) string {
	if len(text) > maxRaw {
		text = text[:maxRaw]
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = reControl.ReplaceAllString(text, "")
	var b strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return shorten(redact(b.String(), secrets))
}

// redact takes out what looks like key material.
func redact(text string, secrets []string) string {
	for _, s := range secrets {
		if s = strings.TrimSpace(s); s != "" {
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	text = reUser.ReplaceAllString(text, "://")
	text = reQuery.ReplaceAllString(text, "$1")
	text = reBearer.ReplaceAllString(text, "$1 "+hidden)
	text = rePrefix.ReplaceAllString(text, hidden)
	text = reGoogle.ReplaceAllString(text, hidden)
	text = reJWT.ReplaceAllString(text, hidden)
	text = reNamed.ReplaceAllStringFunc(text, func(found string) string {
		m := reNamed.FindStringSubmatch(found)
		digit, letter := strings.ContainsAny(m[3], "0123456789"), strings.IndexFunc(m[3], unicode.IsLetter) >= 0
		if letter && (digit || len(m[3]) >= 16) {
			return m[1] + m[2] + hidden
		}
		return found // a number of tokens, or a word of the sentence
	})
	return reLong.ReplaceAllStringFunc(text, func(run string) string {
		if strings.ContainsAny(run, "0123456789") && strings.IndexFunc(run, unicode.IsLetter) >= 0 {
			return hidden
		}
		return run
	})
}

// shorten cuts a text to the length of a message.
func shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxMessage {
		return text
	}
	runes := []rune(text)
	return string(runes[:maxMessage-1]) + "…"
}
