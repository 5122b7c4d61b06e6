package probe

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

// docs/engines.md has a line for every engine that is told apart.
func TestEveryEngineIsWrittenDown(t *testing.T) {
	page, err := os.ReadFile("../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "engine/engine.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	ast.Inspect(file, func(n ast.Node) bool {
		decl, ok := n.(*ast.GenDecl)
		if !ok || decl.Tok != token.CONST {
			return true
		}
		for _, spec := range decl.Specs {
			for _, v := range spec.(*ast.ValueSpec).Values {
				lit, ok := v.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					continue
				}
				name, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				names++
				if name == "teapot engine" {
					name = "teapot's engine"
				}
				if !strings.Contains(string(page), "\n| "+name+" |") {
					t.Errorf("docs/engines.md has no line for %s", name)
				}
			}
		}
		return false
	})
	if names < 20 {
		t.Errorf("only %d engines were found", names)
	}
}
