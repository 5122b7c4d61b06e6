package accuracy

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// sink takes whatever is written.
type sink struct{ net.Conn }

func (sink) Write(b []byte) (int, error) { return len(b), nil }

// frame is one of HTTP/2.
func frame(kind byte, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body))<<8|uint32(kind))
	b = append(b, 0)                            // flags
	b = binary.BigEndian.AppendUint32(b, 2*7+1) // stream
	return append(b, body...)
}

// However the frames are cut into writes, a token left with the write that
// completed its frame.
func TestTokensInFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []byte
		ends := map[uint64][]int{} // where the frames of each stream's tokens end
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				all = append(all, frame(1, "headers")...)
			case 1:
				all = append(all, frame(frameData, `data: {"id":"e","choices":[]}`)...)
			default:
				n := rapid.Uint64Range(1, 3).Draw(t, "stream")
				all = append(all, frame(frameData, fmt.Sprintf(tokenLine, n))...)
				ends[n] = append(ends[n], len(all))
			}
		}
		f := &framed{Conn: sink{}, t: &timed{}, notes: &notes{of: map[uint64]*Written{}}}
		at, write := 0, int64(0)
		want := map[uint64][]int64{}
		for at < len(all) {
			n := rapid.IntRange(1, len(all)-at).Draw(t, "write")
			write++
			f.t.before, f.t.after = 10*write, 10*write+5
			for id, list := range ends {
				for _, end := range list {
					if end > at && end <= at+n {
						want[id] = append(want[id], 10*write)
					}
				}
			}
			if _, err := f.Write(all[at : at+n]); err != nil {
				t.Fatal(err)
			}
			at += n
		}
		for id, list := range want {
			got, ok := f.notes.take(id, len(list))
			if !ok || !slices.Equal(got.Before, list) || got.After[0] != list[0]+5 {
				t.Fatalf("stream %d: %v, want %v", id, got, list)
			}
		}
		if len(f.rest) != 0 || len(f.notes.of) != 0 {
			t.Fatalf("%d bytes and %d streams are left", len(f.rest), len(f.notes.of))
		}
	})
}

// A server's connection remembers when bytes came and left, on one clock.
func TestTimedConnection(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(ln, nil, false)
	defer l.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := monotonic()
	if _, err := io.WriteString(c, "ask"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(s, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	at := timedOf(s)
	// The kernel's clock and ours are read one after the other.
	if came := at.came.Load(); came < before-int64(1e6) || came > monotonic() {
		t.Errorf("came at %d, asked at %d", came, before)
	}
	if _, err := s.Write([]byte("answer")); err != nil {
		t.Fatal(err)
	}
	if at.before > at.after || at.before < before || at.after > monotonic() {
		t.Errorf("written from %d to %d, asked at %d", at.before, at.after, before)
	}
	if timedOf(c) != nil {
		t.Error("a connection of somebody else's has times")
	}
}
