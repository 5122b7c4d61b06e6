package api

import (
	"path/filepath"
	"testing"
)

// The decoders of the native dialects one by one, on whole bodies: what holds of
// all of them in FuzzDecoders holds of each, and a fuzzer gets further with one.

func FuzzSGLang(f *testing.F)    { fuzzBodies(f, "sglang") }
func FuzzTGI(f *testing.F)       { fuzzBodies(f, "tgi") }
func FuzzTriton(f *testing.F)    { fuzzBodies(f, "triton") }
func FuzzGemini(f *testing.F)    { fuzzBodies(f, "gemini") }
func FuzzKoboldCpp(f *testing.F) { fuzzBodies(f, "koboldcpp") }

// fuzzBodies begins with the bodies of the written cases in a dialect.
func fuzzBodies(f *testing.F, dialect string) {
	paths, err := filepath.Glob("testdata/cases/*.fix")
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, path := range paths {
		if dialectOf(path) != dialect {
			continue
		}
		var body []byte
		for _, w := range readCase(f, path).writes {
			body = append(body, w.data...)
		}
		f.Add(body, uint8(4))
		seeds++
	}
	if seeds == 0 {
		f.Fatalf("no case is in %s", dialect)
	}
	f.Fuzz(func(t *testing.T, body []byte, asked uint8) {
		soup(t, dialect, string(body), int(asked))
	})
}
