package event

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNonFinite(t *testing.T) {
	for _, tt := range []struct{ in, want float64 }{
		{math.NaN(), 0}, {math.Inf(1), math.MaxFloat64}, {math.Inf(-1), -math.MaxFloat64}, {2.5, 2.5},
	} {
		in := &Session{Version: "v", Load: Load{Rate: tt.in, Seed: 9}}
		got, _, err := Read(Append(nil, in))
		if err != nil {
			t.Fatal(err)
		}
		want := &Session{Version: "v", Load: Load{Rate: tt.want, Seed: 9}}
		if d := cmp.Diff(Event(want), got); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.in, d)
		}
		if math.Float64bits(in.Load.Rate) != math.Float64bits(tt.in) {
			t.Errorf("%v: the caller's event was changed", tt.in)
		}
	}
}

// odd has every shape a float can hide in.
type odd struct {
	F  float64
	S  []float64
	M  map[string]float64
	P  *float64
	A  [2]float32
	In struct{ F float32 }
}

func (*odd) Kind() Kind  { return 99 }
func (*odd) Time() int64 { return 42 }

// wordless has no JSON form, whatever is done to its numbers.
type wordless struct {
	odd
	C chan int
}

func TestNonFiniteAnywhere(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	o := &odd{F: nan, S: []float64{inf, 1}, M: map[string]float64{"a": nan}, P: &inf, A: [2]float32{float32(inf), 2}}
	o.In.F = float32(math.Inf(-1))
	rec := Append(nil, o)
	if kind, n, err := Peek(rec); kind != 99 || err != nil {
		t.Fatalf("Peek = %d, %d, %v", kind, n, err)
	}
	_, head := binary.Uvarint(rec)
	var got odd
	if err := json.Unmarshal(rec[head+1:], &got); err != nil {
		t.Fatal(err)
	}
	if got.F != 0 || got.S[0] != math.MaxFloat64 || got.S[1] != 1 || got.M["a"] != 0 || *got.P != math.MaxFloat64 ||
		got.A != [2]float32{math.MaxFloat32, 2} || got.In.F != -math.MaxFloat32 {
		t.Errorf("mended to %+v", got)
	}
	if !math.IsNaN(o.F) || !math.IsInf(o.S[0], 1) || !math.IsNaN(o.M["a"]) || !math.IsInf(*o.P, 1) {
		t.Errorf("the caller's event was changed: %+v", o)
	}
}

func TestUnwritableBecomesANote(t *testing.T) {
	for name, ev := range map[string]Event{
		"no JSON":   &wordless{},
		"too large": &Note{At: 42, Text: strings.Repeat("<", MaxRecord/2)},
	} {
		got, _, err := Read(Append(nil, ev))
		note, ok := got.(*Note)
		if err != nil || !ok || note.At != 42 || note.Level != "error" || !strings.Contains(note.Text, "left out") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
