package signals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain lets the test binary play nvidia-smi.
func TestMain(m *testing.M) {
	if mode := os.Getenv("TEAPOT_FAKE_SMI"); mode != "" {
		os.Exit(smi(mode, strings.Join(os.Args[1:], " ")))
	}
	goleak.VerifyTestMain(m)
}

const (
	busyGPU = "0, 97, 60, 40960, 143771, 640.15, 700.00, 1755, 1980, 71, 0x0000000000000004"
	idleGPU = "1, 0, 0, 4, 143771, [N/A], 700.00, 345, 1980, 33, 0x0000000000000001"
)

// smi answers as nvidia-smi does.
func smi(mode, args string) int {
	say := func(lines ...string) { fmt.Println(strings.Join(lines, "\n")) }
	switch mode {
	case "two":
		for range 3 {
			say(busyGPU, idleGPU)
		}
		time.Sleep(time.Minute)
	case "one":
		say(busyGPU, busyGPU)
		time.Sleep(time.Minute)
	case "old":
		if strings.Contains(args, reasonsNew) {
			say(`Field "` + reasonsNew + `" is not a valid field to query.`)
			return 2
		}
		say(busyGPU, busyGPU)
		time.Sleep(time.Minute)
	case "ancient":
		if strings.Contains(args, "reasons") {
			say(`Field "x" is not a valid field to query.`)
			return 2
		}
		line := busyGPU[:strings.LastIndex(busyGPU, ",")]
		say(line, line)
		time.Sleep(time.Minute)
	case "no driver":
		say("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.", "")
		return 9
	case "no device":
		say("No devices were found")
		return 6
	case "no field":
		say(`Field "index" is not a valid field to query.`)
		return 2
	case "hangs":
		time.Sleep(time.Minute)
	case "dies":
		say(busyGPU, busyGPU)
	}
	return 0
}

// gpu makes a watcher of the fake. impatient is closed where waiting is over.
func gpu(t *testing.T, mode string, impatient <-chan time.Time) *GPU {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if impatient == nil {
		impatient = make(chan time.Time)
	}
	g, err := NewGPU(GPUConfig{Path: self, Env: []string{"TEAPOT_FAKE_SMI=" + mode}, Now: new(clock).now, After: func(time.Duration) <-chan time.Time { return impatient }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func TestGPUs(t *testing.T) {
	two := map[string]float64{
		"gpu.util#0": .97, "gpu.mem_util#0": .6, "gpu.mem_used#0": 40960 << 20, "gpu.mem_total#0": 143771 << 20, "gpu.power#0": 640.15, "gpu.power_limit#0": 700,
		"gpu.clock#0": 1.755e9, "gpu.clock_max#0": 1.98e9, "gpu.temp#0": 71, "gpu.throttle#0": 4, "gpu.util#1": 0, "gpu.throttle#1": 1, "gpu.temp#1": 33,
	}
	for mode, figures := range map[string]map[string]float64{
		"two": two, "one": {"gpu.util#0": .97, "gpu.throttle#0": 4}, "old": {"gpu.util#0": .97, "gpu.throttle#0": 4}, "ancient": {"gpu.util#0": .97, "gpu.temp#0": 71},
	} {
		t.Run(mode, func(t *testing.T) {
			g := gpu(t, mode, nil)
			sig, err := g.Poll(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			want(t, sig, figures)
			if sig.Target != 0 || sig.Source != "gpu" || sig.Bytes == 0 || sig.Age <= 0 || g.Every() != often || g.Cost().Looks != 1 {
				t.Errorf("%+v, every %v, %+v", sig, g.Every(), g.Cost())
			}
			for _, s := range sig.Values {
				if s.Name == "gpu.power" && s.Of == "1" {
					t.Errorf("a power that is not known: %v", s.Value)
				}
			}
		})
	}
}

func TestNoGPU(t *testing.T) {
	over := make(chan time.Time)
	close(over)
	for _, c := range []struct {
		mode, text string
		impatient  <-chan time.Time
	}{
		{"no driver", "nvidia-smi shows no GPU: NVIDIA-SMI has failed because", nil},
		{"no device", "nvidia-smi shows no GPU: No devices were found", nil},
		{"no field", "nvidia-smi shows no GPU: Field \"index\" is not a valid", nil},
		{"silent", "nvidia-smi shows no GPU: it says nothing", nil},
		{"hangs", "nvidia-smi says nothing for 10s: the driver hangs", over},
	} {
		t.Run(c.mode, func(t *testing.T) {
			g := gpu(t, c.mode, c.impatient)
			for range 2 {
				sig, err := g.Poll(context.Background())
				if _, absent := errors.AsType[*Absent](err); !absent || !strings.HasPrefix(err.Error(), c.text) || sig.Detail != err.Error() {
					t.Errorf("%v, %+v", err, sig)
				}
			}
			if g.Every() != seldom || g.child != nil {
				t.Errorf("every %v", g.Every())
			}
		})
	}
	g, err := NewGPU(GPUConfig{Path: "/nowhere/nvidia-smi", Now: new(clock).now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Poll(context.Background()); err == nil || err.Error() != "nvidia-smi cannot be started: it is not installed" {
		t.Errorf("not there: %v", err)
	}
	g.Close()
}

// TestGPUDies: a child that had worked is missed, and started again.
func TestGPUDies(t *testing.T) {
	g := gpu(t, "dies", nil)
	var seen, missed int
	for missed < 2 {
		_, err := g.Poll(context.Background())
		switch {
		case err == nil:
			seen++
		case strings.HasPrefix(err.Error(), "nvidia-smi ended: "):
			if missed++; g.Every() != seldom {
				t.Errorf("every %v", g.Every())
			}
		default:
			t.Fatal(err)
		}
	}
	if seen < 2 {
		t.Errorf("seen %d times", seen)
	}
}

func TestGPUCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g := gpu(t, "hangs", nil)
	if _, err := g.Poll(ctx); !errors.Is(err, context.Canceled) || g.final != nil {
		t.Errorf("%v", err)
	}
}

func TestThrottleReasons(t *testing.T) {
	for mask, want := range map[float64][]string{0: nil, 1: nil, 3: nil, 4: {"power cap"}, 0x68: {"hardware slowdown", "heat, by the driver", "heat, by the hardware"}, -1: nil, 1e300: nil} {
		if got := ThrottleReasons(mask); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %v, want %v", mask, got, want)
		}
	}
}

func FuzzGPU(f *testing.F) {
	for _, seed := range []string{busyGPU, idleGPU, "0,1", "-1, 97, 60, 40960, 143771, 640.15, 700.00, 1755, 1980, 71, 0x4", strings.Repeat("[Not Supported], ", 10) + "x", "0" + strings.Repeat(", NaN", 10)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, fields := range gpuQueries() {
			index, values, ok := readGPU(fields, line)
			if ok && index < 0 || !ok && len(values) > 0 {
				t.Fatalf("%v, %v, %v", index, values, ok)
			}
			for _, v := range values {
				_ = ThrottleReasons(v.Value)
			}
		}
		if slices.Contains(ThrottleReasons(0), "power cap") {
			t.Fatal("throttled by nothing")
		}
	})
}
