package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"testing"
)

// passiveReport is what such a report says.
type passiveReport struct {
	Complete bool
	Settings struct{ Passive bool }
	Targets  []struct {
		Engine   string
		Requests struct{ OK, Failed, Aborted int }
		Server   struct {
			ITL, TTFT struct {
				N    *float64 `json:"all_n"`
				Mean *float64 `json:"all_mean"`
			}
			Values []struct {
				Name  string
				Value *float64
			}
			Sources []struct {
				Name  string
				Looks int
				Bytes int
			}
		}
	}
}

// A run that only watches: somebody else's load is seen through the server's own
// figures, and not one request is sent.
func TestPassiveReport(t *testing.T) {
	engineURL, _ := engine(t, "smooth")
	to, err := url.Parse(engineURL)
	if err != nil {
		t.Fatal(err)
	}
	forward := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("a passive run sends %s %s", r.Method, r.URL.Path)
		}
		forward.ServeHTTP(w, r)
	}))
	defer front.Close()
	loaded := make(chan int, 1)
	go func() {
		cmd := teapot("report", engineURL, "-c", "2", "-n", "6", "--output-format", "none", "--server-metrics", "off")
		_ = cmd.Run()
		loaded <- cmd.ProcessState.ExitCode()
	}()
	file := filepath.Join(t.TempDir(), "run.teapot")
	out, stderr, code := run(t, "report", front.URL, "--passive", "-d", "4s", "--record", file, "--output-format", "json")
	if code != 0 || stderr != "" {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if c := <-loaded; c != 0 {
		t.Errorf("the load ended with %d", c)
	}
	replayed, stderr, code := run(t, "replay", file, "--speed", "0", "--output-format", "json", "-o", "-")
	if code != 0 {
		t.Errorf("replay: exit code %d: %s", code, stderr)
	}
	for name, text := range map[string]string{"live": out, "replayed": replayed} {
		var r passiveReport
		if err := json.Unmarshal([]byte(text), &r); err != nil || len(r.Targets) != 1 {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		tg := &r.Targets[0]
		if !r.Complete || !r.Settings.Passive || tg.Requests.OK+tg.Requests.Failed+tg.Requests.Aborted > 0 || tg.Engine != "teapot engine" {
			t.Errorf("%s: %+v", name, r)
		}
		itl := tg.Server.ITL
		if itl.N == nil || *itl.N < 20 || itl.Mean == nil || *itl.Mean < 5 {
			t.Errorf("%s: the server's own gaps: %+v", name, itl)
		}
		values := map[string]bool{}
		for _, v := range tg.Server.Values {
			values[v.Name] = v.Value != nil
		}
		for _, want := range []string{"running", "waiting", "kv_used", "preemptions"} {
			if !values[want] {
				t.Errorf("%s: %s is not told", name, want)
			}
		}
		if s := tg.Server.Sources; len(s) == 0 || s[0].Looks < 2 || s[0].Bytes == 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
