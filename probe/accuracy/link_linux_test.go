package accuracy

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sum is the internet's checksum, without its complement.
func sum(b []byte) (s uint32) {
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for s > 0xffff {
		s = s&0xffff + s>>16
	}
	return s
}

func TestReflectionKeepsChecksums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Byte(), 20, 60).Draw(t, "packet")
		p[0] = 4<<4 | 5
		old := append([]byte{}, p...)
		if !reflect4(p) {
			t.Fatal("refused")
		}
		if sum(p[:20]) != sum(old[:20]) || string(p[12:16]) != string(old[16:20]) || string(p[16:20]) != string(old[12:16]) ||
			string(p[20:]) != string(old[20:]) || string(p[:12]) != string(old[:12]) {
			t.Fatalf("%x became %x", old, p)
		}
	})
	for _, bad := range [][]byte{nil, make([]byte, 19), make([]byte, 40)} {
		if reflect4(bad) {
			t.Errorf("%x was taken", bad)
		}
	}
}

// A distant server is twenty milliseconds away, or says why there is none.
func TestDistant(t *testing.T) {
	tg, err := startTarget(t.Context(), Distant)
	if err != nil {
		if !strings.Contains(err.Error(), "link of 40 ms") && !strings.Contains(err.Error(), "not permitted") {
			t.Error(err)
		}
		return // a machine where no network of its own can be made
	}
	defer tg.stop()
	tr := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (c net.Conn, err error) {
		err = tg.start(Load{}, func() (err error) {
			c, err = new(net.Dialer).DialContext(ctx, network, addr)
			return err
		})
		return c, err
	}}
	defer tr.CloseIdleConnections()
	const n = 40
	h, _ := asks(t, &http.Client{Transport: tr}, tg.where, "a", "constant:1600", n)
	log, err := tg.log()
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare(log, []Heard{h}, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if r.Tokens != n || r.Missing != 0 || r.Delays[0] < int64(linkDelay) {
		t.Errorf("%d tokens, %d missing; the quickest took %d ns", r.Tokens, r.Missing, r.Delays[0])
	}
	// A request and its first token pass the link once each, the handshake twice.
	if took := h.At[0] - h.Sent; took < int64(lead)+4*int64(linkDelay) {
		t.Errorf("the first token came after %d ns", took)
	}
}

func TestWithin(t *testing.T) {
	ran := 0
	for core := range runtime.NumCPU() {
		if err := within(0, core, func() error { ran++; return nil }); err != nil {
			if !strings.Contains(err.Error(), "keep to core") {
				t.Error(err)
			}
			ran++ // a core that this process may not use
		}
	}
	if ran != runtime.NumCPU() {
		t.Errorf("ran %d times", ran)
	}
	if err := within(1<<30, -1, func() error { t.Error("ran"); return nil }); err == nil {
		t.Error("there is no such process")
	}
}
