package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestBodyOfNatives(t *testing.T) {
	const prompt = `7f3a Say \"hi\"\n`
	for _, c := range []struct {
		name, dialect, model string
		drop                 []string
		want                 string
	}{
		{"SGLang", "sglang", "m", nil, `{"text":"` + prompt + `","sampling_params":{"max_new_tokens":32,"min_new_tokens":32,"ignore_eos":true,"temperature":0},"stream":true}`},
		{"SGLang, all that can go", "sglang", "m", []string{FieldMinNewTokens, FieldIgnoreEOS, FieldTemperature}, `{"text":"` + prompt + `","sampling_params":{"max_new_tokens":32},"stream":true}`},
		{"TGI", "tgi", "m", nil, `{"inputs":"` + prompt + `","parameters":{"max_new_tokens":32,"details":true,"do_sample":false,"seed":5}}`},
		{"TGI, all that can go", "tgi", "m", []string{FieldSeed, FieldTemperature}, `{"inputs":"` + prompt + `","parameters":{"max_new_tokens":32,"details":true}}`},
		{"Triton", "triton", "m", nil, `{"text_input":"` + prompt + `","parameters":{"max_tokens":32,"stream":true,"temperature":0}}`},
		{"Triton, all that can go", "triton", "m", []string{FieldTemperature}, `{"text_input":"` + prompt + `","parameters":{"max_tokens":32,"stream":true}}`},
		{"KoboldCpp", "koboldcpp", "m", nil, `{"prompt":"` + prompt + `","max_length":32,"ban_eos_token":true,"temperature":0,"sampler_seed":5}`},
		{"KoboldCpp, all that can go", "koboldcpp", "m", []string{FieldBanEOS, FieldSeed, FieldTemperature}, `{"prompt":"` + prompt + `","max_length":32}`},
		{"Gemini that does not think", "gemini", "gemini-2.0-flash", nil, `{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"generationConfig":{"maxOutputTokens":32,"temperature":0,"seed":5}}`},
		{"Gemini that need not think", "gemini", "models/gemini-2.5-flash-lite", nil, `{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"generationConfig":{"maxOutputTokens":32,"temperature":0,"seed":5,"thinkingConfig":{"thinkingBudget":0}}}`},
		{"Gemini that must think", "gemini", "gemini-2.5-pro", nil, `{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"generationConfig":{"maxOutputTokens":32,"temperature":0,"seed":5,"thinkingConfig":{"thinkingBudget":128}}}`},
		{"Gemini with levels", "gemini", "gemini-3-pro-preview", nil, `{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"generationConfig":{"maxOutputTokens":32,"temperature":0,"seed":5,"thinkingConfig":{"thinkingLevel":"low"}}}`},
		{"Gemini that paints", "gemini", "gemini-2.5-flash-image", nil, `{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"generationConfig":{"maxOutputTokens":32,"temperature":0,"seed":5}}`},
		{"Gemini, all that can go", "gemini", "gemini-2.5-flash", []string{FieldEffort, FieldSeed, FieldTemperature}, `{"contents":[{"role":"user","parts":[{"text":"` + prompt + `"}]}],"generationConfig":{"maxOutputTokens":32}}`},
	} {
		a := Ask{Model: c.model, Prompt: "7f3a Say \"hi\"\n", MaxTokens: 32, Seed: 1<<40 + 5, Drop: map[string]bool{}}
		for _, field := range c.drop {
			a.Drop[field] = true
		}
		if got := bodyOf(t, c.dialect, a); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A refusal leads to the field that a dialect has, whatever it calls it.
func TestRefusalsOfNatives(t *testing.T) {
	for _, c := range []struct{ dialect, model, body, want string }{
		{"sglang", "m", `{"error":{"message":"SamplingParams.__init__() got an unexpected keyword argument 'min_new_tokens'","code":400}}`, FieldMinNewTokens},
		{"gemini", "gemini-2.5-flash", `[{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name \"thinkingConfig\" at 'generation_config': Cannot find field.","status":"INVALID_ARGUMENT"}}]`, FieldEffort},
		{"gemini", "gemini-2.0-flash", `{"error":{"code":400,"message":"Unknown name \"seed\" at 'generation_config'","status":"INVALID_ARGUMENT"}}`, FieldSeed},
		{"koboldcpp", "m", `{"detail":{"msg":"unexpected field","type":"bad_input"}}`, FieldBanEOS},
	} {
		d, err := ByName(c.dialect)
		if err != nil {
			t.Fatal(err)
		}
		got := RejectedField(http.StatusBadRequest, []byte(c.body))
		if got == "" && RejectsFields(http.StatusBadRequest, []byte(c.body)) {
			got = GiveUp(d, Ask{Model: c.model, MaxTokens: 1})
		}
		if got != c.want {
			t.Errorf("%s: %q is given up, want %q", c.dialect, got, c.want)
		}
	}
}

func TestEndpointOfNatives(t *testing.T) {
	for _, c := range []struct{ dialect, base, model, want string }{
		{"sglang", "http://h:30000/v1", "m", "http://h:30000/generate"},
		{"sglang", "http://h/generate/v1", "m", "http://h/generate"},
		{"tgi", "http://h:8080/v1", "m", "http://h:8080/generate_stream"},
		{"koboldcpp", "http://h:5001/v1", "m", "http://h:5001/api/extra/generate/stream"},
		{"koboldcpp", "http://h:5001/api/v1", "m", "http://h:5001/api/extra/generate/stream"},
		{"triton", "http://h:8000/v1", "ensemble", "http://h:8000/v2/models/ensemble/generate_stream"},
		{"triton", "http://h:8000/v2/v1", "a/b ?#%", "http://h:8000/v2/models/a%2Fb%20%3F%23%25/generate_stream"},
		{"triton", "http://h/v1", "..", "http://h/v2/models/%2E%2E/generate_stream"},
		{"gemini", "https://generativelanguage.googleapis.com/v1", "gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/v1", "models/gemini-2.5-flash", "https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"},
		{"gemini", "https://h/v1?x=1", "tunedModels/mine", "https://h/v1beta/tunedModels/mine:streamGenerateContent?x=1&alt=sse"},
		{"triton", "http://h/v1", "m/versions/3", "http://h/v2/models/m/versions/3/generate_stream"},
		{"triton", "http://h/v1", "m/versions/..", "http://h/v2/models/m/versions/%2E%2E/generate_stream"},
		{"triton", "http://h/v1", "m/versions/", "http://h/v2/models/m%2Fversions%2F/generate_stream"},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/openai/v1", "m", "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"gemini", "https://h/v1?alt=sse", "m", "https://h/v1beta/models/m:streamGenerateContent?alt=sse"},
		{"gemini", "https://h/v1?x=1&alt=json", "m", "https://h/v1beta/models/m:streamGenerateContent?x=1&alt=json"},
		{"gemini", "https://h/v1?default=1", "m", "https://h/v1beta/models/m:streamGenerateContent?default=1&alt=sse"},
		{"gemini", "https://h/v1", "org/m", "https://h/v1beta/models/org%2Fm:streamGenerateContent?alt=sse"},
	} {
		d, err := ByName(c.dialect)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Endpoint(c.base, c.model); got != c.want {
			t.Errorf("%s under %s: %s, want %s", c.dialect, c.base, got, c.want)
		}
	}
}

func TestAuthOfNatives(t *testing.T) {
	for _, c := range []struct{ dialect, header, want string }{
		{"gemini", "X-Goog-Api-Key", "secret"}, {"gemini", "Authorization", ""},
		{"sglang", "Authorization", "Bearer secret"}, {"tgi", "Authorization", "Bearer secret"},
		{"triton", "Authorization", "Bearer secret"}, {"koboldcpp", "Authorization", "Bearer secret"},
	} {
		d, err := ByName(c.dialect)
		if err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		d.Auth(h, "https://h/v1", " secret\n")
		if got := h.Get(c.header); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.dialect, c.header, got, c.want)
		}
		if strings.Contains(d.Endpoint("https://h/v1", "m"), "secret") {
			t.Errorf("%s: the key is in the URL", c.dialect)
		}
	}
}

// Elements are those that encoding/json finds.
func TestElements(t *testing.T) {
	inner := rapid.SampledFrom([]string{"1", "-2.5e3", `"a,]\""`, "null", "[]", "[1,[2]]", `{"a":[1,2]}`})
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(inner, 0, 5).Draw(t, "elements")
		gap := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "gap")
		checkElements(t, []byte("["+gap+strings.Join(parts, gap+","+gap)+gap+"]"))
	})
	for _, raw := range []string{"", "7", "null", `"[1]"`, "{}"} {
		if n := elements([]byte(raw)); n != -1 {
			t.Errorf("%q has %d elements", raw, n)
		}
	}
}

func checkElements(t interface{ Fatalf(string, ...any) }, raw []byte) {
	var list []json.RawMessage
	if !valid(raw) || json.Unmarshal(raw, &list) != nil {
		return
	}
	if n := elements(raw); n != len(list) && string(raw) != "null" {
		t.Fatalf("%s has %d elements, not %d", raw, len(list), n)
	}
}

func FuzzElements(f *testing.F) {
	for _, seed := range []string{"[]", "[1,2,3]", `[ "a,]" , [[],{}] ]`, `[{"a":[1]},null]`, "[1,]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkElements(t, raw) })
}

// What is new makes up the whole again, whether a server repeats it or not, with
// ids or without.
func TestGrowing(t *testing.T) {
	token := rapid.SampledFrom([]string{"a", "ab", "1", " ", "🙂", "\n", "", "the"})
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(token, 1, 8).Draw(t, "pieces")
		repeats := rapid.Bool().Draw(t, "repeats")
		checkGrowing(t, pieces, repeats)
	})
}

// checkGrowing sends pieces of one token each, with their ids.
func checkGrowing(t interface{ Fatalf(string, ...any) }, pieces []string, repeats bool) {
	var g growing
	var want, got string
	ids := 0
	for i, piece := range pieces {
		want += piece
		text, list := piece, "[7]"
		if repeats {
			text, list = want, "["+strings.TrimSuffix(strings.Repeat("7,", i+1), ",")+"]"
		}
		part, _ := g.step([]byte(text), []byte(list), i+1)
		got += string(part)
		if ids = i + 1; got != want {
			t.Fatalf("after %d of %q: %q, want %q", ids, pieces, got, want)
		}
	}
}

func FuzzGrowing(f *testing.F) {
	f.Add("a|b|c", true)
	f.Add("1|0|2||2", false)
	f.Add("🙂|\xff|\n", true)
	f.Fuzz(func(t *testing.T, text string, repeats bool) {
		if pieces := strings.Split(text, "|"); len(pieces) < 200 {
			checkGrowing(t, pieces, repeats)
		}
		// Anything at all, against what came before: nothing but its end is new.
		var g growing
		for _, piece := range strings.Split(text, "|") {
			part, n := g.step([]byte(piece), []byte(piece), -1)
			if !strings.HasSuffix(piece, string(part)) || n < 0 {
				t.Fatalf("%q is new in %q, with %d ids", part, piece, n)
			}
		}
	})
}
