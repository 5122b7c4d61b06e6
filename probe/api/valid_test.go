package api

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzValid(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` {"a" : [1, -0.5e+3 , true,false,null,"\u00e9\n"]} `, `"\ud83d"`, `01`, `-`, `1.`, `1e`, `.5`, `+1`, `[1,]`, `{"a":1,}`, `{"a"}`, `{a:1}`,
		`"\x"`, `"\u12g4"`, "\"\x01\"", "\"\xff\"", `nul`, `nulll`, `tru`, `"a`, `{"a":`, `[`, `]`, ``, ` `, "\ufeff{}", `{"a":1}}`, "[1]\x00",
		strings.Repeat("[", 40) + strings.Repeat("]", 40), strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := json.Valid(data)
		got := valid(data)
		if got && !want {
			t.Fatalf("accepted %q", data)
		}
		shallow := strings.Count(string(data), "[")+strings.Count(string(data), "{") <= maxDepth
		if want && !got && shallow {
			t.Fatalf("refused %q", data)
		}
	})
}
