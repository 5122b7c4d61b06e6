//go:build engines

package export

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"teapot/stats"
)

// native has a server take native histograms.
const native = "--enable-feature=native-histograms"

// needed is a program of Prometheus's, which these tests are for.
func needed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is needed: %v", name, err)
	}
	return path
}

func TestPromtoolAcceptsThePage(t *testing.T) {
	body, _ := scrape(t, taken(stats.Config{}, session(20, 50)), textFormat)
	cmd := exec.Command(needed(t, "promtool"), "check", "metrics")
	cmd.Stdin = strings.NewReader(body)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	if out, err := exec.Command(needed(t, "promtool"), "check", "config", "../../docs/prometheus.yml").CombinedOutput(); err != nil {
		t.Errorf("promtool check config: %v\n%s", err, out)
	}
}

// startPrometheus starts a real server that scrapes an address, and returns its own.
func startPrometheus(t *testing.T, scraped string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	config := "global: {scrape_interval: 1s}\nscrape_configs:\n- {job_name: teapot, static_configs: [{targets: ['" + scraped + "']}]}\n"
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, needed(t, "prometheus"), "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+addr)
	cmd.Args = append(cmd.Args, flags...)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("prometheus said\n%s", text)
		}
	})
	return "http://" + addr
}

// ask evaluates an expression until it has a value.
func ask(t *testing.T, server, expr string) float64 {
	t.Helper()
	last := ""
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		resp, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(expr))
		if err != nil {
			last = err.Error()
			continue
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		var got struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		if err != nil || json.Unmarshal(body, &got) != nil || len(got.Data.Result) != 1 {
			last = string(body)
			continue
		}
		v, err := strconv.ParseFloat(fmt.Sprint(got.Data.Result[0].Value[1]), 64)
		if err == nil && !math.IsNaN(v) {
			return v
		}
		last = string(body)
	}
	t.Fatalf("%s has no value within a minute: %s", expr, last)
	return 0
}

// Prometheus's own percentiles of what it scraped are ours, within a bucket.
func TestPrometheusAgrees(t *testing.T) {
	s := taken(stats.Config{}, session(120, 200))
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	page := Serve(l, s, "1.2.3")
	defer page.Close()
	// A server takes the native histograms, or the classic ones.
	server, plain := startPrometheus(t, l.Addr().String(), native), startPrometheus(t, l.Addr().String())
	const sel = `{target="http://gpu07:8000/v1"}`
	gap := &s.a.Snapshot().Targets[0].Session.Gap
	for i, p := range stats.Quantiles[:stats.P9999] {
		want := float64(gap.Q[i].Value) / 1e9
		exact := ask(t, server, fmt.Sprintf("histogram_quantile(%v, teapot_gap_seconds%s)", p, sel))
		if width := math.Exp2(1.0 / (1 << schema)); exact > want*width*1.001 || exact < want/width/1.001 {
			t.Errorf("native P%v is %v s, ours %v s", 100*p, exact, want)
		}
		classic := ask(t, plain, fmt.Sprintf("histogram_quantile(%v, teapot_gap_seconds_bucket%s)", p, sel))
		low, high := 0.0, math.Inf(1)
		for _, edge := range bounds {
			if edge*1.001 < want {
				low = edge
			}
			if edge*.999 > want {
				high = edge
				break
			}
		}
		if classic < low*.999 || classic > high*1.001 {
			t.Errorf("classic P%v is %v s, ours %v s is between %v and %v", 100*p, classic, want, low, high)
		}
		t.Logf("P%v: ours %.4g ms, native %.4g, classic %.4g", 100*p, 1e3*want, 1e3*exact, 1e3*classic)
	}
	if n := ask(t, server, `histogram_count(teapot_gap_seconds`+sel+`)`); n != float64(gap.N) {
		t.Errorf("%v gaps, want %d", n, gap.N)
	}
}

// A real server scrapes a real run, while it runs.
func TestPrometheusScrapesARun(t *testing.T) {
	bin := os.Getenv("TEAPOT_BIN")
	if bin == "" {
		t.Fatal("TEAPOT_BIN names the program")
	}
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	server := startPrometheus(t, addr, native)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "report", "demo:article", "-c", "4", "-d", "2m", "--listen", addr, "--output-format", "none")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for expr, between := range map[string][2]float64{
		`teapot_up`: {1, 1},
		`histogram_quantile(0.5, teapot_gap_seconds)`:                       {.0005, .1},
		`sum(teapot_requests_total{class="ok_full"}) > 0`:                   {1, 1e6},
		`histogram_count(rate(teapot_gap_seconds[20s])) > 0`:                {1, 1e5},
		`count(teapot_target_info{engine="teapot engine"})`:                 {1, 1},
		`sum(rate(teapot_output_tokens_total[20s])) > 0`:                    {1, 1e5},
		`teapot_client_oversleep_seconds`:                                   {0, 60},
		`count(scrape_samples_scraped{job="teapot"} > 20) or vector(0) > 0`: {1, 1},
	} {
		if v := ask(t, server, expr); v < between[0] || v > between[1] {
			t.Errorf("%s is %v", expr, v)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("interrupted, it ended with %d: %s", code, &said)
	}
	if want := "http://" + addr + path; !strings.Contains(said.String(), want) {
		t.Errorf("it does not say where its page is: %s", &said)
	}
}
