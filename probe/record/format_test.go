package record

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"teapot/probe/event"
)

// kindNames reads the Kind constants from the source: number → name.
func kindNames(t *testing.T) map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Kind" {
				for i, name := range v.Names {
					names[v.Values[i].(*ast.BasicLit).Value] = strings.TrimPrefix(name.Name, "Kind")
				}
			}
		}
		return true
	})
	return names
}

// keys lists the JSON keys of a struct type.
func keys(t reflect.Type) (list []string) {
	for f := range t.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
			list = append(list, key)
		}
	}
	return list
}

func TestTheDocumentIsComplete(t *testing.T) {
	doc, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(doc), "\r\n", "\n") // a checkout on Windows may have them
	_, table, _ := strings.Cut(text, "| kind | name |")
	rows := map[string]string{} // "| 1 | Session |" → its line
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 1 {
				break
			}
			continue
		}
		cells := strings.SplitN(line, "|", 4)
		if len(cells) == 4 {
			rows[strings.TrimSpace(cells[1])+" "+strings.TrimSpace(cells[2])] = line
		}
	}
	kinds := kindNames(t)
	if len(kinds) < 14 {
		t.Fatalf("found only %d kinds in the source", len(kinds))
	}
	for number, name := range kinds {
		row, ok := rows[number+" "+name]
		if !ok {
			t.Errorf("the table has no row for kind %s, %s", number, name)
			continue
		}
		ev, _, err := event.Read(blankRecord(t, number))
		if err != nil { // Token and Text: their fields have no keys
			continue
		}
		for _, key := range keys(reflect.TypeOf(ev).Elem()) {
			if !strings.Contains(row, "`"+key+"`") {
				t.Errorf("the row of %s lacks the field `%s`", name, key)
			}
		}
	}
	for start, typ := range map[string]reflect.Type{
		"Load, in Session": reflect.TypeFor[event.Load](),
		"Server, in End":   reflect.TypeFor[event.ServerTimings](),
	} {
		_, after, found := strings.Cut(text, "\n"+start)
		line, _, _ := strings.Cut(after, "\n")
		if !found {
			t.Errorf("no line begins with %q", start)
		}
		for _, key := range keys(typ) {
			if !strings.Contains(line, "`"+key+"`") {
				t.Errorf("the line %q lacks the field `%s`", start, key)
			}
		}
	}
	if !strings.Contains(text, fmt.Sprintf("Format version: %d.", Version)) {
		t.Errorf("the document is not of version %d", Version)
	}
}

// blankRecord is a record of the kind with an empty JSON object.
func blankRecord(t *testing.T, number string) []byte {
	t.Helper()
	var kind byte
	if _, err := fmt.Sscan(number, &kind); err != nil {
		t.Fatal(err)
	}
	return []byte{3, kind, '{', '}'}
}

// TestLayout pins the bytes: a change here needs a new Version.
func TestLayout(t *testing.T) {
	got, _ := write(t, Options{Text: true}, []event.Event{
		&event.Token{At: 1000, Request: 300, Target: 1, Slot: 2, Late: 5, K: 1, Burst: 3, Bytes: 4, Channel: event.Reasoning, Merged: true},
		&event.Text{At: 1000, Request: 300, Channel: event.Reasoning, Text: "tea"},
		&event.Mark{At: 7, Label: "a", Auto: true},
	})
	want := "teapot\r\n" + "\x01\x00" + "\x01\x00" + "\xe4\xfe\xcf\x99" +
		"\xf5tpb" + "\x00\x00\x00\x00" + "\x3b\x00\x00\x00" + "\x3b\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" + "\x03\x00\x00\x00" + "\x18\x5a\x64\x81" + "\xcc\xc7\xfc\x53" +
		"\x0d\x05\x01\x01\xd0\x0f\xac\x02\x01\x02\x0a\x01\x03\x04" +
		"\x0a\x06\x01\xd0\x0f\xac\x02\x03tea" +
		"\x21\x0a" + `{"at":7,"label":"a","auto":true}`
	if string(got) != want {
		t.Errorf("wrote\n%q, want\n%q", got, want)
	}
}
