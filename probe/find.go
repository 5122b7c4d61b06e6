package probe

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"teapot/probe/engine"
)

// LocalPorts are where inference servers listen when nobody says otherwise, in
// the order in which they are preferred: vLLM, SGLang, llama.cpp, Ollama, LM
// Studio, LMDeploy, and a second vLLM.
var LocalPorts = [...]int{8000, 30000, 8080, 11434, 1234, 23333, 8001}

// Found is a server that answered on a well-known port.
type Found struct {
	URL       string
	Detection engine.Detection
	Loading   bool // it answers that its model is being loaded
}

// findLimit is how long FindLocal waits for all ports together.
const findLimit = 3 * time.Second

// FindLocal asks the given ports of this machine, all at once, and returns
// those where an inference server answered, in the order of ports. What
// listens and is no such server is left out.
func FindLocal(ctx context.Context, ports []int) []Found {
	ctx, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{
		DialContext:        (&net.Dialer{Timeout: time.Second}).DialContext,
		DisableCompression: true,
		DisableKeepAlives:  true,
	}}
	found := make([]*Found, len(ports))
	var wg sync.WaitGroup
	for i, port := range ports {
		wg.Go(func() { found[i] = ask(ctx, client, port) })
	}
	wg.Wait()
	var out []Found
	for _, f := range found {
		if f != nil {
			out = append(out, *f)
		}
	}
	return out
}

func ask(ctx context.Context, client *http.Client, port int) *Found {
	f := &Found{URL: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	var err error
	f.Detection, err = engine.Detect(ctx, client, f.URL, http.Header{}, "")
	if status, ok := err.(*engine.StatusError); ok && status.Loading() {
		f.Loading = true
		return f
	}
	if err != nil || f.Detection.Engine == "" && len(f.Detection.Models) == 0 {
		return nil
	}
	return f
}

// NoneFound says what to do where no server answers.
func NoneFound() error {
	return fmt.Errorf("no inference server answers on the local ports %s: name a URL, or try 'teapot demo'",
		strings.Trim(fmt.Sprint(LocalPorts), "[]"))
}

// String says what was found in a few words: "vLLM 0.19.0 at http://…".
func (f Found) String() string {
	name := f.Detection.Engine
	switch {
	case name == "":
		name = "an OpenAI-compatible server"
	case f.Detection.Version != "":
		name += " " + f.Detection.Version
	}
	if f.Loading {
		name += " (loading its model)"
	}
	return fmt.Sprintf("%s at %s", name, f.URL)
}
