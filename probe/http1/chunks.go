package http1

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/textproto"
)

// state is where in the framing of chunks the next byte stands.
type state uint8

const (
	atSize    state = iota // in the line that says how long the chunk is
	atData                 // in its bytes
	atCR                   // at the carriage return behind them
	atLF                   // at the line feed behind that
	atTrailer              // behind the last chunk
	atEnd                  // everything is read
)

const (
	// maxSizeLine bounds a line that announces a chunk, extensions included and
	// its end left out.
	maxSizeLine = 4095
	// maxTrailer bounds the lines behind the last chunk.
	maxTrailer = 64 << 10
	// maxOverhead bounds the bytes of framing above those that chunks of a
	// usual size need, so that a server cannot have us read for ever and hand
	// out nothing.
	maxOverhead = 16 << 10
	// usualFraming is how much of a chunk's framing is free of charge.
	usualFraming = 16
)

// Errors of a chunked body.
var (
	ErrChunk        = errors.New("malformed chunk")
	ErrChunkLine    = errors.New("the line that announces a chunk is too long")
	ErrChunkPadding = errors.New("the body is chunk framing and little else")
	ErrTrailer      = errors.New("malformed trailer")
)

// chunks undoes the framing of a chunked body, whatever the reads it comes in.
type chunks struct {
	state state
	left  uint64 // bytes of the chunk to come
	line  []byte // of the present line or trailer, what came with earlier reads
	extra int64  // framing beyond what is usual
}

// decode moves payload from src to dst. It takes used bytes of src: all of
// them, unless dst is full or the body has ended.
func (k *chunks) decode(dst, src []byte) (n, used int, err error) {
	for used < len(src) && k.state != atEnd {
		switch k.state {
		case atData:
			if n == len(dst) {
				return n, used, nil
			}
			m := copy(dst[n:], src[used:used+int(min(k.left, uint64(len(src)-used)))])
			n, used = n+m, used+m
			if k.left -= uint64(m); k.left == 0 {
				k.state = atCR
			}
		case atCR:
			if src[used] != '\r' {
				return n, used, ErrChunk
			}
			used++
			k.state = atLF
		case atLF:
			if src[used] != '\n' {
				return n, used, ErrChunk
			}
			used++
			k.state = atSize
		default:
			m, err := k.framing(src[used:])
			used += m
			if err != nil {
				return n, used, err
			}
		}
	}
	return n, used, nil
}

// framing takes bytes of a line, up to its end.
func (k *chunks) framing(src []byte) (used int, err error) {
	end := bytes.IndexByte(src, '\n')
	used = end + 1
	if end < 0 {
		used = len(src)
	}
	if k.state == atTrailer {
		return used, k.trailerLine(src[:used])
	}
	line := src[:used]
	if len(k.line) > 0 || end < 0 {
		k.line = append(k.line, line...)
		line = k.line
	}
	if len(line) > maxSizeLine+len("\r\n") {
		return used, ErrChunkLine
	}
	if end < 0 {
		return used, nil
	}
	k.line = k.line[:0]
	return used, k.size(line)
}

// size reads the line that announces a chunk.
func (k *chunks) size(line []byte) error {
	// What the framing costs beyond a little is counted, and large chunks buy
	// it back.
	k.extra += int64(len(line)) - usualFraming // the end of the line stands for that of the chunk
	line = line[:len(line)-1]
	if len(line) == 0 || line[len(line)-1] != '\r' || bytes.IndexByte(line[:len(line)-1], '\r') >= 0 {
		return ErrChunk // a bare line feed may hide a second message
	}
	digits := bytes.TrimRight(line, " \t\r\n")
	digits, _, _ = bytes.Cut(digits, []byte{';'})
	n, err := hex(digits)
	if err != nil {
		return err
	}
	if k.extra = max(k.extra-2*int64(min(n, 1<<40)), 0); k.extra > maxOverhead {
		return ErrChunkPadding
	}
	k.left, k.state = n, atData
	if n == 0 {
		k.state = atTrailer
	}
	return nil
}

// hex reads a length of up to 16 hexadecimal digits.
func hex(digits []byte) (n uint64, err error) {
	if len(digits) == 0 || len(digits) > 16 {
		return 0, ErrChunk
	}
	for _, d := range digits {
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d && d <= 'f':
			d -= 'a' - 10
		case 'A' <= d && d <= 'F':
			d -= 'A' - 10
		default:
			return 0, ErrChunk
		}
		n = n<<4 | uint64(d)
	}
	return n, nil
}

// trailerLine collects the lines behind the last chunk, up to the empty one.
func (k *chunks) trailerLine(part []byte) error {
	k.line = append(k.line, part...)
	switch {
	case len(k.line) > maxTrailer:
		return ErrTrailer
	case string(k.line) == "\r\n", bytes.HasSuffix(k.line, []byte("\r\n\r\n")):
		k.state = atEnd
	case bytes.HasSuffix(k.line, []byte("\n")) && !bytes.HasSuffix(k.line, []byte("\r\n")):
		return ErrTrailer // not everybody takes this for the end of a line
	}
	return nil
}

// trailers reads the lines collected; nil when there are none.
func (k *chunks) trailers() (http.Header, error) {
	if len(k.line) <= len("\r\n") {
		return nil, nil
	}
	src := bytes.NewReader(k.line)
	lines := bufio.NewReader(src)
	h, err := textproto.NewReader(lines).ReadMIMEHeader()
	if err != nil || lines.Buffered()+src.Len() > 0 {
		return nil, ErrTrailer
	}
	return http.Header(h), nil
}
