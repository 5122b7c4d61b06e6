package accuracy

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memory watches a process's anonymous memory.
type memory struct {
	quit chan struct{}
	done sync.WaitGroup
	most int64
}

func watchMemory(pid int) *memory {
	m := &memory{quit: make(chan struct{})}
	m.done.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			m.most = max(m.most, rssAnon(pid))
			select {
			case <-m.quit:
				return
			case <-tick.C:
			}
		}
	})
	return m
}

func (m *memory) stop() int64 {
	close(m.quit)
	m.done.Wait()
	return m.most
}

// rssAnon is a process's anonymous resident memory in bytes; 0 unknown.
func rssAnon(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("RssAnon:"))
	line, _, _ := strings.Cut(string(rest), "kB")
	kib, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// cpuTime is the CPU time of a process's threads so far in ns; 0 unknown.
func cpuTime(pid int) (all int64) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		first, _, _ := strings.Cut(string(b), " ")
		ns, _ := strconv.ParseInt(first, 10, 64)
		all += ns
	}
	return all
}

// running tells whether a process is there and has not ended.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.TrimSpace(string(b[bytes.LastIndexByte(b, ')')+1:]))
	return state != "" && state[0] != 'Z' && state[0] != 'X'
}

// childProbe is the probe that a screen has started, 0 for none yet. What else
// it starts, and itself before it has become the probe, is passed over.
func childProbe(screen int) int {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", screen))
	for _, t := range tasks {
		b, _ := os.ReadFile(t)
		for f := range strings.FieldsSeq(string(b)) {
			pid, err := strconv.Atoi(f)
			if err != nil {
				continue
			}
			if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(args, []byte("\x00probe\x00")) {
				return pid
			}
		}
	}
	return 0
}
