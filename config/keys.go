package config

import (
	"fmt"
	"reflect"
	"strings"
)

// key is what a field's tags say about the key that it holds.
//
//	yaml      its name in the file
//	default   what it is without being given, written as in the file; none = the zero value
//	required  it must be given
//	enum      the words that are accepted, space-separated
//	range     inclusive bounds, low..high, written as in the file
//	form      what text has to look like (forms.go); of a list or mapping, its elements' text or keys
type key struct {
	name      string
	field     int
	preset    string
	required  bool
	enum      []string
	low, high string
	form      string
}

// keysOf returns the keys of struct type t in the order of its fields. A broken tag is a bug and panics.
func keysOf(t reflect.Type) []key {
	keys := make([]key, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		k := key{name: f.Tag.Get("yaml"), field: i, preset: f.Tag.Get("default"), form: f.Tag.Get("form")}
		k.required = f.Tag.Get("required") == "true"
		k.enum = strings.Fields(f.Tag.Get("enum"))
		if bounds := f.Tag.Get("range"); bounds != "" {
			var ok bool
			if k.low, k.high, ok = strings.Cut(bounds, ".."); !ok {
				panic(fmt.Sprintf("config: %s.%s: range %q is not low..high", t, f.Name, bounds))
			}
		}
		if k.name == "" {
			panic(fmt.Sprintf("config: %s.%s has no yaml tag", t, f.Name))
		}
		keys = append(keys, k)
	}
	return keys
}

// element returns what holds for the elements of a list or the values of a mapping.
func (k key) element() key {
	k.preset, k.required = "", false
	return k
}

// preset sets v, a struct, to its defaults, sections within it included. A bad default is a bug and panics.
func preset(v reflect.Value) {
	for _, k := range keysOf(v.Type()) {
		field := v.Field(k.field)
		switch {
		case k.preset != "":
			if p := parse(k.preset, k, field); p != nil {
				panic(fmt.Sprintf("config: default of %s.%s: %s", v.Type(), k.name, p.message))
			}
		case field.Kind() == reflect.Struct && !isPlugin(field.Type()):
			preset(field)
		}
	}
}

func isPlugin(t reflect.Type) bool { return t == reflect.TypeFor[PluginRef]() }
