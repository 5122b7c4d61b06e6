package probe

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teapot/probe/api"
)

// docs/engines.md says of every written case, every recorded stream and every
// dialect what it is evidence of, and names nothing that is not there.
func TestEvidenceIsWrittenDown(t *testing.T) {
	page, err := os.ReadFile("../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, glob := range []string{"api/testdata/cases/*.fix", "api/testdata/recorded/*.txt"} {
		paths, err := filepath.Glob(glob)
		if err != nil || len(paths) < 40 {
			t.Fatalf("%s: %d files, %v", glob, len(paths), err)
		}
		for _, p := range paths {
			have = append(have, strings.TrimSuffix(filepath.Base(p), filepath.Ext(p)))
		}
	}
	named := regexp.MustCompile("`([A-Za-z0-9]+_[A-Za-z0-9_]*\\*?)`").FindAllStringSubmatch(string(page), -1)
	matches := func(pattern, name string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	for _, name := range have {
		if !slices.ContainsFunc(named, func(n []string) bool { return matches(n[1], name) }) {
			t.Errorf("%s is evidence of nothing that docs/engines.md names", name)
		}
	}
	for _, n := range named {
		if strings.HasSuffix(n[1], "*") && !slices.ContainsFunc(have, func(name string) bool { return matches(n[1], name) }) {
			t.Errorf("docs/engines.md names %s, which is not there", n[1])
		}
	}
	for _, dialect := range api.Names() {
		if !strings.Contains(string(page), "\n| "+dialect+" |") {
			t.Errorf("docs/engines.md has no line for the dialect %s", dialect)
		}
	}
	for _, test := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(page), -1) {
		if !slices.ContainsFunc([]string{".", "api", "engine", "../ui/command"}, func(dir string) bool { return holds(t, dir, "func "+test[1]+"(") }) {
			t.Errorf("docs/engines.md names %s, which is not there", test[1])
		}
	}
}

// holds tells whether a test file of a folder has a text.
func holds(t *testing.T, dir, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(b), text)
	})
}
