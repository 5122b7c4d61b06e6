package api

// maxDepth is how deep the picker looks into an event; deeper ones are left to
// encoding/json.
const maxDepth = 32

// valid tells whether data is one JSON value, by the strict grammar that
// encoding/json has, without allocating. It may refuse what encoding/json
// accepts (a deep nest), and never accepts what that refuses.
func valid(data []byte) bool {
	i := value(data, blank(data, 0), 0)
	return i >= 0 && blank(data, i) == len(data)
}

// blank is the place of the first byte from i on that is not white space.
func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// value is the place behind the value that begins at i, or -1.
func value(b []byte, i, depth int) int {
	if i >= len(b) || depth > maxDepth {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return quoted(b, i+1)
	case c == '{':
		return members(b, i+1, depth+1, '}')
	case c == '[':
		return members(b, i+1, depth+1, ']')
	case c == '-' || (c >= '0' && c <= '9'):
		return numeral(b, i)
	case c == 't':
		return word(b, i, "true")
	case c == 'f':
		return word(b, i, "false")
	case c == 'n':
		return word(b, i, "null")
	}
	return -1
}

func word(b []byte, i int, w string) int {
	if len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}

// members is the place behind an object or an array whose bracket has been
// passed.
func members(b []byte, i, depth int, end byte) int {
	i = blank(b, i)
	if i < len(b) && b[i] == end {
		return i + 1
	}
	for {
		if end == '}' {
			if i >= len(b) || b[i] != '"' {
				return -1
			}
			if i = quoted(b, i+1); i < 0 {
				return -1
			}
			if i = blank(b, i); i >= len(b) || b[i] != ':' {
				return -1
			}
			i = blank(b, i+1)
		}
		if i = value(b, i, depth); i < 0 {
			return -1
		}
		if i = blank(b, i); i >= len(b) {
			return -1
		}
		switch b[i] {
		case end:
			return i + 1
		case ',':
			i = blank(b, i+1)
		default:
			return -1
		}
	}
}

// quoted is the place behind a string whose opening quote has been passed.
func quoted(b []byte, i int) int {
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c != '\\':
			i++
		case i+1 >= len(b):
			return -1
		default:
			switch b[i+1] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
				i += 2
			case 'u':
				if i+6 > len(b) || !hex(b[i+2]) || !hex(b[i+3]) || !hex(b[i+4]) || !hex(b[i+5]) {
					return -1
				}
				i += 6
			default:
				return -1
			}
		}
	}
	return -1
}

func hex(c byte) bool {
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')
}

// numeral is the place behind a number.
func numeral(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	switch {
	case i >= len(b):
		return -1
	case b[i] == '0':
		i++
	default:
		if i = digits(b, i); i < 0 {
			return -1
		}
	}
	if i < len(b) && b[i] == '.' {
		if i = digits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		return digits(b, i)
	}
	return i
}

// digits is the place behind at least one digit, or -1.
func digits(b []byte, i int) int {
	from := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == from {
		return -1
	}
	return i
}
