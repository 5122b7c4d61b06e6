// Package reel reads replies that were written down (cases in a small notation,
// and transcripts of real servers) and plays them to a client, so that tests
// of every floor hear the same servers.
//
// It is for tests. It knows nothing of what a reply means.
package reel

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// End is how a reply ends.
type End uint8

// The ends.
const (
	Clean    End = iota // as its framing wants
	NoChunks            // the connection closes without the last chunk
	Reset               // the connection is reset
)

// Write is bytes that go out at once.
type Write struct {
	At   time.Duration // since the request was heard
	Data []byte
}

// Reel is a reply as its writes.
type Reel struct {
	Name   string
	Status int
	Header []string // lines without their ends; empty in a transcript
	Old    bool     // HTTP/1.0: no chunks, the end of the connection ends it
	// Flush sends the header by itself, before the first write.
	Flush  bool
	Raw    bool // the writes are all of it, the head included: a transcript
	Writes []Write
	End    End
	Expect map[string]string
}

// ContentType is that of the header, "" for none.
func (r *Reel) ContentType() string {
	for _, line := range r.Header {
		if kind, ok := strings.CutPrefix(line, "content-type: "); ok {
			return kind
		}
	}
	return ""
}

// Dialect tells by a reel's name which dialect it is in.
func Dialect(path string) string {
	name := filepath.Base(path)
	for _, d := range []struct{ part, dialect string }{
		{"anthropic_", "anthropic"}, {"messages", "anthropic"}, {"responses", "responses"}, {"lmstudio_native", "lmstudio"},
		{"ollama_v1", "chat"}, {"O_v1", "chat"}, {"ollama_", "ollama"}, {"O_chat", "ollama"}, {"O_generate", "ollama-generate"},
		{"llamacpp_native", "llamacpp"}, {"A_native", "llamacpp"}, {"sglang_native", "sglang"}, {"sglang_generate", "sglang"},
		{"tgi_generate", "tgi"}, {"tgi_native", "tgi"}, {"triton", "triton"}, {"gemini", "gemini"}, {"kobold_native", "koboldcpp"},
		{"koboldcpp", "koboldcpp"}, {"completions", "completions"}, {"cmpl", "completions"}, {"emoji", "completions"},
	} {
		if strings.Contains(name, d.part) {
			return d.dialect
		}
	}
	return "chat"
}

// ReadCase reads the notation of a .fix file, a word a line:
//
//	HTTP 200, HTTP/1.0 200      the status
//	H name: value               a line of the header
//	FLUSH                       the header goes out by itself
//	D 12ms                      a pause
//	EV json, EVN name json      a write of one event
//	LN json                     a write of one line
//	RAW "go-quoted"             a write of these bytes
//	JOIN ... ENDJOIN            one write of all that is between
//	END clean|nochunkend|reset  how the body ends
//	EXPECT key=value ...        what a client should make of it
//
// $ID and $M stand for an id and for the name of the model.
func ReadCase(path string) (*Reel, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Reel{Name: strings.TrimSuffix(filepath.Base(path), ".fix"), Status: 200, Expect: map[string]string{}}
	p := caseParser{r: r}
	for i, line := range strings.Split(strings.NewReplacer("$ID", "id1", "$M", "model-1").Replace(string(raw)), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if err := p.line(word, rest); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return r, nil
}

// caseParser is where the reading of a case stands.
type caseParser struct {
	r      *Reel
	at     time.Duration
	join   bool
	joined []byte
}

func (p *caseParser) put(data string) {
	if p.join {
		p.joined = append(p.joined, data...)
		return
	}
	p.r.Writes = append(p.r.Writes, Write{p.at, []byte(data)})
}

func (p *caseParser) line(word, rest string) (err error) {
	switch word {
	case "":
	case "HTTP", "HTTP/1.0":
		p.r.Old = word == "HTTP/1.0"
		p.r.Status, err = strconv.Atoi(rest)
	case "H":
		p.r.Header = append(p.r.Header, rest)
	case "FLUSH":
		p.r.Flush = true
	case "D":
		var d time.Duration
		d, err = time.ParseDuration(rest)
		p.at += d
	case "EV":
		p.put("data: " + rest + "\n\n")
	case "EVN":
		name, text, _ := strings.Cut(rest, " ")
		p.put("event: " + name + "\ndata: " + text + "\n\n")
	case "LN":
		p.put(rest + "\n")
	case "RAW":
		var text string
		text, err = strconv.Unquote(rest)
		p.put(text)
	case "JOIN":
		p.join = true
	case "ENDJOIN":
		p.join = false
		p.put(string(p.joined))
		p.joined = nil
	case "END":
		p.r.End, err = end(rest)
	case "EXPECT":
		for _, f := range strings.Fields(strings.ReplaceAll(rest, "≈", "=")) {
			k, v, _ := strings.Cut(f, "=")
			p.r.Expect[k] = v
		}
	default:
		err = fmt.Errorf("the word %q is not known", word)
	}
	return err
}

func end(word string) (End, error) {
	switch word {
	case "clean":
		return Clean, nil
	case "nochunkend":
		return NoChunks, nil
	case "reset":
		return Reset, nil
	}
	return Clean, fmt.Errorf("the end %q is not known", word)
}

// ReadTranscript reads what a real server sent: a line for each read, with its
// time in ms, its length and its bytes. Other lines are remarks.
func ReadTranscript(path string) (*Reel, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	r := &Reel{Name: strings.TrimSuffix(filepath.Base(path), ".txt"), Raw: true}
	return r, r.transcript(f)
}

func (r *Reel) transcript(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line, ok := strings.CutPrefix(lines.Text(), "+")
		if !ok {
			continue
		}
		head, data, _ := strings.Cut(line, "B ")
		var ms float64
		var n int
		if _, err := fmt.Sscan(head, &ms, &n); err != nil {
			return fmt.Errorf("%s: %q: %w", r.Name, line, err)
		}
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(data, `"`, `\"`) + `"`)
		if err != nil {
			return fmt.Errorf("%s: %q: %w", r.Name, line, err)
		}
		if len(text) != n {
			return fmt.Errorf("%s: %d bytes, and the line says %d", r.Name, len(text), n)
		}
		r.Writes = append(r.Writes, Write{time.Duration(math.Round(ms * 1e6)), []byte(text)})
	}
	return lines.Err()
}
