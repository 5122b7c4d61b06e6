package signals

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"teapot/probe/engine"
)

// costs is the table of docs/watching.md, from what is asked.
func costs(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| engine | source | asked for | looks a minute | what asking does |\n|---|---|---|---:|---|\n")
	for _, name := range []string{
		engine.VLLM, engine.SGLang, engine.TGI, engine.LMDeploy, engine.NIM, engine.TRTLLM, engine.Triton, engine.LlamaCpp,
		engine.Ollama, engine.KoboldCpp, engine.LiteLLM, engine.Teapot,
	} {
		all, err := Sources(engine.Detection{Engine: name}, "http://h:8000", Options{Drain: true})
		if err != nil || len(all) == 0 {
			t.Fatalf("%s: %v, %v", name, all, err)
		}
		for _, s := range all {
			u, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			where := u.Path
			if u.Port() != "8000" {
				where = ":" + u.Port() + where
			}
			source := s.Name
			if s.Drains {
				source += ", only if asked"
			}
			fmt.Fprintf(&b, "| %s | %s | `%s` | %d | %s |\n", name, source, where, time.Minute/s.Every, cmp.Or(s.Effect, "nothing is known"))
		}
	}
	return b.String()
}

// The page says what the code does. What it should say is logged.
func TestTheDocumentedCosts(t *testing.T) {
	page, err := os.ReadFile("../../../docs/watching.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := costs(t); !strings.Contains(string(page), want) {
		t.Errorf("docs/watching.md has another table than\n%s", want)
	}
}
