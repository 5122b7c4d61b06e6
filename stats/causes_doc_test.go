package stats

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page lists the rules as they are asked. What it should say is logged.
func TestTheDocumentedRules(t *testing.T) {
	var want strings.Builder
	want.WriteString("| | rule | cause | advice |\n|---:|---|---|---|\n")
	for i, r := range causeRules {
		fmt.Fprintf(&want, "| %d | %s | %s | %s |\n", i+1, r.name, r.cause, r.advice)
	}
	page, err := os.ReadFile("../docs/causes.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), want.String()) {
		t.Errorf("docs/causes.md has another table than\n%s", want.String())
	}
}
