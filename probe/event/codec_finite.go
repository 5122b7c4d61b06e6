package event

import (
	"math"
	"reflect"
)

// finite returns a copy of ev that JSON can hold: NaN is 0 in it, and an
// infinity the largest number of its sign. It goes by reflection, so that a
// field added to an event tomorrow is covered too; it runs only after an
// encoding failed.
func finite(ev Event) Event {
	v := reflect.ValueOf(ev)
	if v.Kind() != reflect.Pointer {
		return ev
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	scrub(c.Elem())
	return c.Interface().(Event)
}

// scrub mends the floats in v, which must be settable, and replaces what v
// only refers to by mended copies: an event belongs to whoever made it.
func scrub(v reflect.Value) {
	switch v.Kind() {
	case reflect.Float32:
		v.SetFloat(clampFloat(v.Float(), math.MaxFloat32))
	case reflect.Float64:
		v.SetFloat(clampFloat(v.Float(), math.MaxFloat64))
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				scrub(f)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			scrub(v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			scrub(c.Elem())
			v.Set(c)
		}
	case reflect.Slice:
		if !v.IsNil() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			for i := range c.Len() {
				scrub(c.Index(i))
			}
			v.Set(c)
		}
	case reflect.Map:
		if !v.IsNil() {
			c := reflect.MakeMapWithSize(v.Type(), v.Len())
			for it := v.MapRange(); it.Next(); {
				e := reflect.New(v.Type().Elem()).Elem()
				e.Set(it.Value())
				scrub(e)
				c.SetMapIndex(it.Key(), e)
			}
			v.Set(c)
		}
	}
}

func clampFloat(f, limit float64) float64 {
	if f != f {
		return 0
	}
	return min(max(f, -limit), limit)
}
