package probe

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxLayers is how many escapings, one around another, are looked through.
const maxLayers = 4

// disguised hides secrets in s that stand there in another writing: escaped as
// in URLs, HTML or JSON, whichever of their bytes and however often, or with
// their end masked ("abcd-123****").
func (r *redactor) disguised(s string) string {
	if len(r.secrets) == 0 {
		return s
	}
	covered := make([]bool, len(s))
	some := false
	cover := func(from, to int) {
		some = true
		for i := from; i < to; i++ {
			covered[i] = true
		}
	}
	text, ends := []byte(s), []int(nil)
	for range maxLayers {
		r.mark(text, func(from, to int) { cover(start(ends, from), start(ends, to)) })
		more := false
		if text, ends, more = unescape(text, ends); !more {
			break
		}
	}
	if !some {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		switch {
		case !covered[i]:
			b.WriteByte(s[i])
		case i == 0 || !covered[i-1]:
			b.WriteString(redacted)
		}
	}
	return b.String()
}

// start is where in the original the byte at i begins; ends holds where each
// byte ends there, and is nil where nothing was unescaped yet.
func start(ends []int, i int) int {
	if ends == nil || i == 0 {
		return i
	}
	return ends[i-1]
}

// mark finds secrets in text, whole or masked, and names each as from and to.
func (r *redactor) mark(text []byte, cover func(from, to int)) {
	at := int32(0)
	for i := range text {
		size := 0
		if at, size = r.find.step(at, text[i]); size > 0 {
			cover(i+1-size, i+1)
		}
		if n := int(r.find.nodes[at].depth); n >= minPart {
			if end := r.masked(text, i+1); end > 0 {
				cover(i+1-n, end)
			}
		}
	}
}

// masked tells where a mask ends that begins at i, and with it the end of a
// secret that some show behind it; 0 where there is no mask.
func (r *redactor) masked(text []byte, i int) int {
	end, runes := i, 0
	first, _ := utf8.DecodeRune(text[i:])
	for end < len(text) {
		c, n := utf8.DecodeRune(text[end:])
		if c != first || !strings.ContainsRune("*•●·….#xX", c) {
			break
		}
		end, runes = end+n, runes+1
	}
	if least := map[rune]int{'…': 1, 'x': 3, 'X': 3}[first]; runes == 0 || runes < max(least, 1) || least == 0 && runes < 2 {
		return 0
	}
	rest := string(text[end:min(len(text), end+64)])
	longest := 0
	for _, secret := range r.secrets {
		for n := min(len(secret)-1, len(rest)); n > max(longest, 1); n-- {
			if strings.HasSuffix(secret, rest[:n]) {
				longest = n
			}
		}
	}
	return end + longest
}

// unescape takes one layer of escaping off a text. ends says for each of its bytes
// where that ends in the original; more is false where there was no such layer.
func unescape(text []byte, ends []int) (plain []byte, at []int, more bool) {
	for i := 0; i < len(text); {
		c, n := escape(text[i:])
		if n == 0 {
			c, n = string(text[i:i+1]), 1
		} else {
			more = true
		}
		for range len(c) {
			at = append(at, start(ends, i+n))
		}
		plain = append(plain, c...)
		i += n
	}
	return plain, at, more
}

// escape reads an escape that a text begins with: what it stands for, and its
// length, 0 where there is none.
func escape(text []byte) (means string, n int) {
	hex := func(from, digits int) (uint64, bool) {
		if len(text) < from+digits {
			return 0, false
		}
		v, err := strconv.ParseUint(string(text[from:from+digits]), 16, 32)
		return v, err == nil
	}
	switch {
	case len(text) < 2:
	case text[0] == '%':
		if v, ok := hex(1, 2); ok {
			return string([]byte{byte(v)}), 3
		}
	case text[0] == '&':
		end := strings.IndexByte(string(text[:min(len(text), 12)]), ';')
		if end < 0 {
			return "", 0
		}
		entity := string(text[:end+1])
		if means = html.UnescapeString(entity); means != entity {
			return means, end + 1
		}
	case text[0] != '\\':
	case text[1] == 'u':
		if v, ok := hex(2, 4); ok {
			return string(rune(v)), 6
		}
	case text[1] == 'x':
		if v, ok := hex(2, 2); ok {
			return string([]byte{byte(v)}), 4
		}
	case text[1] == '/', text[1] == '"', text[1] == '\\':
		return string(text[1:2]), 2
	}
	return "", 0
}
