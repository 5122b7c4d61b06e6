package stats

import (
	"math"
	"reflect"

	"teapot/probe/event"
)

const ms = int64(1e6)

// script writes the events of a run by hand. Times are in ms.
type script struct {
	a *Aggregator
}

func newScript(c Config) *script {
	if c.MaxErrorRate == 0 {
		c.MaxErrorRate = -1
	}
	s := &script{a: NewAggregator(c)}
	s.a.Add(&event.Session{Wall: 1_700_000_000e9, Source: event.SourceKernel})
	s.a.Add(&event.Target{ID: 1, URL: "http://x", State: event.StateLive})
	return s
}

func (s *script) start(req uint64, at int64) {
	s.a.Add(&event.Start{At: at * ms, Target: 1, Request: req, Slot: uint32(req % 4), Asked: 256})
}

func (s *script) tok(req uint64, at int64, k uint32) { s.tokNs(req, at*ms, k) }

func (s *script) tokNs(req uint64, at int64, k uint32) {
	s.a.Add(&event.Token{At: at, Target: 1, Request: req, Slot: uint32(req % 4), K: k})
}

func (s *script) end(req uint64, at int64, n int, c event.Class) {
	s.a.Add(&event.End{At: at * ms, Target: 1, Request: req, Slot: uint32(req % 4), Class: c, N: n, Count: event.CountUsage, Status: 200})
}

func (s *script) target() *Target { return s.a.Snapshot().Targets[0] }

type failer interface {
	Helper()
	Errorf(string, ...any)
}

// finite fails when a float anywhere below v is NaN or infinite.
func finite(t failer, v any) {
	t.Helper()
	walk(t, reflect.ValueOf(v), "snapshot", map[uintptr]bool{})
}

func walk(t failer, v reflect.Value, path string, seen map[uintptr]bool) {
	t.Helper()
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Errorf("%s is %v", path, f)
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return
		}
		if v.Kind() == reflect.Pointer {
			if seen[v.Pointer()] {
				return
			}
			seen[v.Pointer()] = true
		}
		walk(t, v.Elem(), path, seen)
	case reflect.Struct:
		for i := range v.NumField() {
			walk(t, v.Field(i), path+"."+v.Type().Field(i).Name, seen)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(t, v.Index(i), path, seen)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			walk(t, it.Value(), path, seen)
		}
	}
}
