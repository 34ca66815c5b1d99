package config

import (
	"fmt"
	"reflect"
	"slices"
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
//	unless    the key beside it that may be given instead of it, where it is required
//	except    of an inlined struct (yaml:",inline"), the keys of it that there are not, space-separated
//
// A field with yaml:"-" is no key.
type key struct {
	name      string
	field     []int // for reflect's FieldByIndex
	owner     reflect.Type
	unless    string
	preset    string
	required  bool
	enum      []string
	low, high string
	form      string
}

// keysOf returns the keys of struct type t in the order of its fields, with those of inlined structs. A broken tag is a
// bug and panics.
func keysOf(t reflect.Type) []key {
	keys := make([]key, 0, t.NumField())
	for i := range t.NumField() {
		switch f := t.Field(i); f.Tag.Get("yaml") {
		case "-":
		case ",inline":
			keys = append(keys, inlined(f, i)...)
		default:
			keys = append(keys, keyOf(t, f, i))
		}
	}
	return keys
}

// inlined returns the keys of field i, a struct, as keys of the struct that it is in.
func inlined(f reflect.StructField, i int) []key {
	except := strings.Fields(f.Tag.Get("except"))
	keys := slices.DeleteFunc(keysOf(f.Type), func(k key) bool { return slices.Contains(except, k.name) })
	for n := range keys {
		keys[n].field = append([]int{i}, keys[n].field...)
	}
	return keys
}

func keyOf(t reflect.Type, f reflect.StructField, i int) key {
	k := key{name: f.Tag.Get("yaml"), field: []int{i}, owner: t, unless: f.Tag.Get("unless"),
		preset: f.Tag.Get("default"), form: f.Tag.Get("form")}
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
	return k
}

// element returns what holds for the elements of a list or the values of a mapping.
func (k key) element() key {
	k.preset, k.required = "", false
	return k
}

// preset sets v, a struct, to its defaults, sections within it included. A bad default is a bug and panics.
func preset(v reflect.Value) {
	for _, k := range keysOf(v.Type()) {
		field := v.FieldByIndex(k.field)
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
