//go:build unix

package probe

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teapot/probe/event"
)

// smiLine is a GPU as nvidia-smi prints it.
const smiLine = "0, 97, 60, 40960, 143771, 640.15, 700.00, 1755, 1980, 71, 0x0000000000000004"

// GPUs are those of this machine, and not of a target; without any, that is no
// fault and is said once, to whoever asks.
func TestGPUs(t *testing.T) {
	for _, c := range []struct {
		name, script string
		gpu, verbose bool
		want         bool
		notes        int
	}{
		{"one", "#!/bin/sh\nwhile :; do echo '" + smiLine + "'; sleep 0.05; done\n", true, false, true, 0},
		{"off", "#!/bin/sh\nwhile :; do echo '" + smiLine + "'; sleep 0.05; done\n", false, false, false, 0},
		{"none", "#!/bin/sh\necho No devices were found\nexit 6\n", true, true, false, 1},
		{"none, and nobody asks", "#!/bin/sh\necho No devices were found\nexit 6\n", true, false, false, 0},
		{"not installed", "", true, true, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.script != "" {
				if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte(c.script), 0o700); err != nil {
					t.Fatal(err)
				}
				dir += string(os.PathListSeparator) + os.Getenv("PATH")
			}
			t.Setenv("PATH", dir)
			var seen atomic.Bool
			s := serve(t, func(_ int, conn net.Conn, _ *http.Request) bool {
				least := time.Now().Add(300 * time.Millisecond)
				return slowly(conn, func() bool { return time.Now().After(least) && (!c.want && c.notes == 0 || seen.Load()) })
			})
			cfg := config(s.url, 1)
			cfg.GPU, cfg.Verbose = c.gpu, c.verbose
			notes := 0
			all := watch(t, cfg, func(ev event.Event, _ chan<- event.Control) {
				switch e := ev.(type) {
				case *event.Signal:
					seen.Store(true)
				case *event.Note:
					if strings.HasPrefix(e.Text, "gpu: ") {
						notes++
						seen.Store(true)
					}
				}
			})
			found := false
			for _, e := range of[*event.Signal](all) {
				v, ok := e.Value("gpu.util")
				found = found || ok && v.Value == 0.97 && e.Target == 0 && e.Source == event.SignalGPU
			}
			if found != c.want || notes != c.notes {
				t.Errorf("seen: %v, want %v; said %d times, want %d", found, c.want, notes, c.notes)
			}
			if e := only[*event.End](t, all); !e.Class.OK() {
				t.Errorf("the request: %+v", e)
			}
		})
	}
}

// The page of an exporter is read without any key.
func TestExporter(t *testing.T) {
	var keyed atomic.Bool
	var looks atomic.Int64
	page := serve(t, func(_ int, c net.Conn, _ *http.Request) bool { return full(c) })
	page.get = func(c net.Conn, r *http.Request) bool {
		keyed.Store(keyed.Load() || r.Header.Get("X-Key") != "" || r.Header.Get("Authorization") != "")
		looks.Add(1)
		plain(c, 200, "text/plain", "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 50\n")
		return true
	}
	s := serve(t, func(_ int, c net.Conn, _ *http.Request) bool {
		return slowly(c, func() bool { return looks.Load() > 0 })
	})
	cfg := config(s.url, 1)
	cfg.Exporter, cfg.Targets[0].Headers = page.url+"/metrics", []string{"X-Key: k"}
	all := watch(t, cfg, nil)
	if got := of[*event.Signal](all); len(got) == 0 || got[0].Source != event.SignalExporter || got[0].Target != 0 || keyed.Load() {
		t.Errorf("%d looks, with a key: %v", len(got), keyed.Load())
	}
}
