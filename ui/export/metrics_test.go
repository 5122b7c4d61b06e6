package export

import (
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"teapot/probe/event"
	"teapot/stats"
)

// scrape reads the page of a session, in the format that a header asks for.
func scrape(t *testing.T, from Source, accept string) (string, map[string]*dto.MetricFamily) {
	t.Helper()
	l, err := Listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	if host, _, _ := net.SplitHostPort(l.Addr().String()); host != "127.0.0.1" {
		t.Fatalf(":0 listens on %s", l.Addr())
	}
	s := Serve(l, from, "1.2.3")
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	req, _ := http.NewRequest(http.MethodGet, s.URL(), nil)
	req.Header.Set("Accept", accept)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", resp.Status, err)
	}
	families := map[string]*dto.MetricFamily{}
	dec := expfmt.NewDecoder(strings.NewReader(string(body)), expfmt.ResponseFormat(resp.Header))
	for {
		var f dto.MetricFamily
		if err := dec.Decode(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		families[f.GetName()] = &f
	}
	return string(body), families
}

const textFormat = "text/plain;version=0.0.4"

// protoFormat is how Prometheus asks where it wants native histograms.
const protoFormat = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"

func label(m *dto.Metric, name string) string {
	for _, l := range m.Label {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// find is the metric whose labels have these values.
func find(t *testing.T, f *dto.MetricFamily, pairs ...string) *dto.Metric {
	t.Helper()
	for _, m := range f.GetMetric() {
		all := true
		for i := 0; i < len(pairs); i += 2 {
			all = all && label(m, pairs[i]) == pairs[i+1]
		}
		if all {
			return m
		}
	}
	t.Fatalf("%s has none of %v", f.GetName(), pairs)
	return nil
}

func TestPageHasTheSession(t *testing.T) {
	events := session(20, 50)
	s := taken(stats.Config{SLO: []stats.SLO{}}, events)
	body, families := scrape(t, s, textFormat)
	const url = "http://gpu07:8000/v1"
	gaps := gapsOf(events, 1)
	h := find(t, families["teapot_gap_seconds"], "target", url).GetHistogram()
	sum := int64(0)
	for _, g := range gaps {
		sum += g
	}
	if h.GetSampleCount() != uint64(len(gaps)) || math.Abs(h.GetSampleSum()-float64(sum)/1e9) > 1e-9 {
		t.Errorf("%d gaps of %v s, want %d of %v", h.GetSampleCount(), h.GetSampleSum(), len(gaps), float64(sum)/1e9)
	}
	for _, b := range h.Bucket {
		// A sample may stand 0.1 % above where it was measured.
		edge := b.GetUpperBound() * 1e9
		least, _ := slices.BinarySearch(gaps, int64(edge*.999))
		most, _ := slices.BinarySearch(gaps, int64(min(edge, 1e13))+1)
		if n := int(b.GetCumulativeCount()); n < least || n > most {
			t.Errorf("%d gaps of at most %v s, want %d to %d", n, b.GetUpperBound(), least, most)
		}
	}
	for _, c := range []struct {
		name  string
		want  float64
		pairs []string
	}{
		{"teapot_requests_total", 18, []string{"target", url, "class", "ok_full"}},
		{"teapot_requests_total", 1, []string{"target", url, "class", "timeout_first"}},
		{"teapot_warmup_requests_total", 1, []string{"target", url}},
		{"teapot_output_tokens_total", 900, []string{"target", url}},
		{"teapot_up", 1, []string{"target", "http://gpu08:8000"}},
		{"teapot_build_info", 1, []string{"version", "1.2.3"}},
	} {
		m := find(t, families[c.name], c.pairs...)
		if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); got != c.want {
			t.Errorf("%s%v is %v, want %v", c.name, c.pairs, got, c.want)
		}
	}
	// A timeout is a sample of more than its limit.
	first := find(t, families["teapot_ttft_seconds"], "target", url).GetHistogram()
	for _, b := range first.Bucket {
		if edge := b.GetUpperBound(); edge >= 1 && edge <= 5 && b.GetCumulativeCount() != first.GetSampleCount()-1 {
			t.Errorf("%d of %d first tokens within %v s", b.GetCumulativeCount(), first.GetSampleCount(), edge)
		}
	}
	if strings.Contains(body, "canary") || strings.Contains(body, "user") {
		t.Error("a secret is on the page")
	}
	var spikes float64
	for _, m := range families["teapot_spikes"].GetMetric() {
		spikes += m.GetGauge().GetValue()
	}
	if spikes == 0 {
		t.Error("no spike is on the page")
	}
}

// Native and classic buckets hold the same samples.
func TestNativeBucketsHoldTheSamples(t *testing.T) {
	events := session(20, 50)
	_, families := scrape(t, taken(stats.Config{}, events), protoFormat)
	h := find(t, families["teapot_gap_seconds"], "target", "http://gpu08:8000").GetHistogram()
	if h.GetSchema() != schema || len(h.PositiveSpan) == 0 {
		t.Fatalf("no native histogram: %v", h)
	}
	gaps := gapsOf(events, 2)
	index, count, at, total := 0, int64(0), 0, uint64(0)
	for _, span := range h.PositiveSpan {
		index += int(span.GetOffset())
		for range span.GetLength() {
			count += h.PositiveDelta[at]
			at++
			low, high := nativeEdge(index-1)*1e9, nativeEdge(index)*1e9
			n := 0
			for _, g := range gaps {
				// A sample may stand 0.1 % away from where it was measured.
				if float64(g) > low*.999 && float64(g) <= high*1.001 {
					n++
				}
			}
			if count <= 0 || int(count) > n {
				t.Errorf("bucket %d (%v, %v] holds %d, and there are %d", index, low, high, count, n)
			}
			total += uint64(count)
			index++
		}
	}
	if total != h.GetSampleCount() || total != uint64(len(gaps)) {
		t.Errorf("the buckets hold %d of %d samples, %d gaps", total, h.GetSampleCount(), len(gaps))
	}
}

func TestNativeIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := float64(rapid.Int64Range(1, 3600e9).Draw(t, "ns")) / 1e9
		i := nativeIndex(v)
		if !(v > nativeEdge(i-1) && v <= nativeEdge(i)) {
			t.Fatalf("%v is in bucket %d, which is (%v, %v]", v, i, nativeEdge(i-1), nativeEdge(i))
		}
	})
	for i := -40; i < 400; i++ {
		if got := nativeIndex(nativeEdge(i)); got != i {
			t.Errorf("the edge of bucket %d is in %d", i, got)
		}
	}
}

// An empty session has a page; a second session of the same name is numbered.
func TestEmptyAndAlike(t *testing.T) {
	if _, f := scrape(t, taken(stats.Config{}, nil), textFormat); f["teapot_build_info"] == nil {
		t.Error("a session without an event has no page")
	}
	events := session(2, 5)
	two := *events[2].(*event.Target)
	two.ID = 1
	events[1] = &two
	_, f := scrape(t, taken(stats.Config{}, events), textFormat)
	var names []string
	for _, m := range f["teapot_up"].GetMetric() {
		names = append(names, label(m, "target"))
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"http://gpu08:8000", "http://gpu08:8000 #2"}) {
		t.Errorf("the targets are %q", names)
	}
}

func TestListen(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if again, err := Listen(l.Addr().String()); err == nil {
		again.Close()
		t.Error("a port that is taken was taken again")
	} else if !strings.Contains(err.Error(), "in use") || strings.ContainsRune(err.Error(), '\n') {
		t.Errorf("it says %q", err)
	}
	if _, err := Listen("nonsense"); err == nil {
		t.Error("nonsense is an address")
	}
}

var metricName = regexp.MustCompile(`teapot_[a-z0-9_]+`)

// The dashboard asks for what there is.
func TestTheDashboardsMetricsExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(text) {
		t.Fatal("docs/grafana.json is no JSON")
	}
	slo := stats.SLO{Expr: "gap<=50ms:99%", Metric: "gap", Limit: 50e6, Goal: .99}
	_, families := scrape(t, taken(stats.Config{SLO: []stats.SLO{slo}}, session(10, 50)), textFormat)
	names := metricName.FindAllString(string(text), -1)
	if len(names) < 15 {
		t.Fatalf("it asks for %q", names)
	}
	for _, n := range names {
		if families[n] == nil && families[strings.TrimSuffix(n, "_bucket")] == nil {
			t.Errorf("the dashboard asks for %s, which is not exported", n)
		}
	}
	for name := range families {
		if !model.LegacyValidation.IsValidMetricName(name) || !strings.HasPrefix(name, "teapot_") {
			t.Errorf("%s is no name of ours", name)
		}
	}
}
