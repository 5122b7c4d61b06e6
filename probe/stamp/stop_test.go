//go:build unix

package stamp

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The environment that makes this test binary a reader for the test below.
const (
	childAddr   = "STAMP_TEST_READ_FROM"
	childBuffer = "STAMP_TEST_BUFFER"
	childTLS    = "STAMP_TEST_TLS"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(childAddr); addr != "" {
		if err := readerMain(addr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// numbered is an event of the test's stream: its number in seven digits.
const numbered = len("0000001\n")

// report is what the reader says of one event.
type report struct {
	N      int
	Merged bool
	Read   Read
}

// readerMain reads events until the end of the stream and reports each.
func readerMain(addr string) error {
	k := NewClock()
	h := NewHeartbeat(k.Now, time.Sleep)
	h.Start()
	defer h.Stop()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	s := Wrap(c, k)
	var from net.Conn = s
	if os.Getenv(childTLS) != "" {
		from = tls.Client(s, &tls.Config{InsecureSkipVerify: true}) // the test's own server
	}
	size, err := strconv.Atoi(os.Getenv(childBuffer))
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	buf, have, after := make([]byte, size), 0, uint64(0)
	for {
		n, err := from.Read(buf[have:])
		r := s.Joined(after)
		after = r.Seq
		have += n
		events := have / numbered
		k := events
		if have%numbered > 0 {
			k++
		}
		merged := h.Merged(k, r, 0)
		for i := range events {
			no, err := strconv.Atoi(string(buf[i*numbered : (i+1)*numbered-1]))
			if err != nil {
				return err
			}
			if err := out.Encode(report{no, merged, r}); err != nil {
				return err
			}
		}
		have = copy(buf, buf[events*numbered:have])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A reader process that is stopped for a while must call everything that came
// meanwhile merged, however it takes it afterwards: in one read, in several
// small ones, or record by record through TLS.
func TestStoppedProcessMerges(t *testing.T) {
	for _, c := range []struct {
		name   string
		buffer int
		tls    bool
	}{
		{"one read", 64 << 10, false},
		{"small reads", 3 * numbered, false},
		{"little more than an event a read", numbered + 1, false},
		{"TLS", 64 << 10, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testStopped(t, c.buffer, c.tls)
		})
	}
}

func testStopped(t *testing.T, buffer int, secure bool) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if secure {
		s := httptest.NewTLSServer(nil) // for its certificate
		l = tls.NewListener(l, &tls.Config{Certificates: s.TLS.Certificates})
		s.Close()
	}

	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childAddr+"="+l.Addr().String(), childBuffer+"="+strconv.Itoa(buffer))
	if secure {
		child.Env = append(child.Env, childTLS+"=1")
	}
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()

	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var written atomic.Int64
	quit, quitted := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quitted)
		for {
			select {
			case <-quit:
				c.Close()
				return
			case <-time.After(10 * time.Millisecond):
				if _, err := fmt.Fprintf(c, "%07d\n", written.Load()+1); err != nil {
					t.Error(err)
				}
				written.Add(1)
			}
		}
	}()

	reports := bufio.NewScanner(out)
	var all []report
	until := func(n int64) {
		for int64(len(all)) < n {
			if !reports.Scan() {
				t.Fatalf("the reader ended after %d events", len(all))
			}
			var r report
			if err := json.Unmarshal(reports.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	until(20)
	first := stopFor(t, child.Process.Pid, &written, 100)
	last := first + 99
	until(last + 20)
	close(quit)
	<-quitted
	until(written.Load())
	check(t, all, first, last)
}

// stopFor stops a process while the server writes n events, and gives the
// number of the first event that was written while it surely did not run.
func stopFor(t *testing.T, pid int, written *atomic.Int64, n int64) int64 {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, syscall.WUNTRACED, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || !status.Stopped() {
			t.Fatalf("the reader did not stop: %v, %x", err, status)
		}
		break
	}
	// The event in writing is counted only when it is written.
	first := written.Load() + 2
	for written.Load() < first+n {
		time.Sleep(10 * time.Millisecond)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	return first
}

func check(t *testing.T, all []report, first, last int64) {
	t.Helper()
	plain := 0
	var bad []string
	for i, r := range all {
		if r.N != i+1 {
			t.Fatalf("event %d came as number %d", r.N, i+1)
		}
		if i > 0 && r.Read.At < all[i-1].Read.At {
			t.Errorf("event %d arrived before the one before it", r.N)
		}
		switch n := int64(r.N); {
		case n >= first && n <= last && !r.Merged:
			bad = append(bad, fmt.Sprintf("%+v", r))
		case n < first-2 && !r.Merged:
			plain++
		}
	}
	if bad != nil {
		t.Errorf("%d of the events written while the reader was stopped do not count as merged, such as\n%s", len(bad), strings.Join(bad[:min(3, len(bad))], "\n"))
	}
	if plain == 0 {
		t.Error("every event before the stop counts as merged")
	}
}
