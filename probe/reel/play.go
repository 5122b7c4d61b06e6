package reel

import (
	"fmt"
	"net"
	"time"
)

// Way is how the bytes of a reply are cut into writes.
type Way uint8

// The ways.
const (
	AsIs   Way = iota // the writes of the reel
	Bytes             // every byte by itself, at the times of the reel
	AtOnce            // all of it in one write, at the time of the last
)

// String names the way.
func (w Way) String() string { return [...]string{"as it is", "byte by byte", "at once"}[w] }

// Times are when a write of a reel had begun and was done.
type Times struct{ Begun, Done time.Time }

// Play writes a reply to a client that has just asked. The result has the
// times of every write of the reel, in their order; in one write at once they
// are all the same. It closes the connection.
func (r *Reel) Play(c net.Conn, way Way) ([]Times, error) {
	p := player{c: c, way: way, start: time.Now()}
	defer p.close(r.End)
	chunked := !r.Raw && !r.Old
	head := r.head(chunked)
	if r.Flush && way != AtOnce {
		if err := p.write(head); err != nil {
			return nil, err
		}
		head = nil
	}
	var times []Times
	var all []byte
	for _, w := range r.Writes {
		p.until(w.At)
		data := w.Data
		if chunked {
			data = fmt.Appendf(nil, "%x\r\n%s\r\n", len(w.Data), w.Data)
		}
		data = append(head, data...)
		head = nil
		if way == AtOnce {
			all = append(all, data...)
			continue
		}
		begun := time.Now()
		if err := p.write(data); err != nil {
			return times, err
		}
		times = append(times, Times{begun, time.Now()})
	}
	last := head
	if chunked && r.End == Clean {
		last = append(last, "0\r\n\r\n"...)
	}
	begun := time.Now()
	if err := p.write(append(all, last...)); err != nil {
		return times, err
	}
	if way == AtOnce {
		for range r.Writes {
			times = append(times, Times{begun, time.Now()})
		}
	}
	return times, nil
}

func (r *Reel) head(chunked bool) []byte {
	if r.Raw {
		return nil
	}
	version := "1.1"
	if r.Old {
		version = "1.0"
	}
	b := fmt.Appendf(nil, "HTTP/%s %d Status\r\n", version, r.Status)
	for _, line := range r.Header {
		b = append(b, line+"\r\n"...)
	}
	if chunked {
		b = append(b, "transfer-encoding: chunked\r\n"...)
	}
	return append(b, "\r\n"...)
}

// player is one play.
type player struct {
	c     net.Conn
	way   Way
	start time.Time
}

// until waits for a time of the reel.
func (p *player) until(at time.Duration) { time.Sleep(time.Until(p.start.Add(at))) }

func (p *player) write(b []byte) error {
	if p.way != Bytes {
		_, err := p.c.Write(b)
		return err
	}
	for i := range b {
		if _, err := p.c.Write(b[i : i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) close(end End) {
	if t, ok := p.c.(*net.TCPConn); ok && end == Reset {
		_ = t.SetLinger(0) // closing sends a reset then
	}
	_ = p.c.Close()
}

// Within squeezes the times of a reel so that it lasts at most d.
func (r *Reel) Within(d time.Duration) {
	if len(r.Writes) == 0 {
		return
	}
	last := r.Writes[len(r.Writes)-1].At
	if last <= d {
		return
	}
	for i := range r.Writes {
		r.Writes[i].At = time.Duration(float64(r.Writes[i].At) / float64(last) * float64(d))
	}
}
