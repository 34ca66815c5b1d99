package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Tags of the YAML core schema.
const (
	mapTag   = "!!map"
	seqTag   = "!!seq"
	strTag   = "!!str"
	intTag   = "!!int"
	floatTag = "!!float"
	boolTag  = "!!bool"
	nullTag  = "!!null"
	mergeTag = "!!merge"

	timestampTag = "!!timestamp"
)

// maxNodes is how many nodes a file may have, each alias counted as what it stands for.
const maxNodes = 50_000

// decoder fills Go values from nodes and notes every fault on the way; it never stops at the first.
type decoder struct {
	report
	origins   origins
	variables map[string]string // the environment
	engines   []string          // the words that a kind of engine may be
	budget    int               // nodes that may still be visited; negative = too complex, nothing more is read
}

// spend counts one node and says whether reading may go on.
func (d *decoder) spend() bool {
	d.budget--
	return d.budget >= 0
}

// value decodes n, which is at path, into out. A null leaves the default in place.
func (d *decoder) value(n *yaml.Node, path string, k key, out reflect.Value) {
	if !d.spend() {
		return
	}
	n = target(n)
	if isNull(n) {
		return
	}
	d.at[path] = d.origins.place(n)
	switch t := out.Type(); {
	case isPlugin(t):
		out.Set(reflect.ValueOf(d.plugin(n, path, k.form == "weighted")))
	case t.Kind() == reflect.Pointer:
		d.section(n, path, k, out)
	case t.Kind() == reflect.Struct:
		d.record(n, path, out)
	case t.Kind() == reflect.Map:
		d.table(n, path, k, out)
	case t.Kind() == reflect.Slice:
		d.list(n, path, k, out)
	default:
		d.scalar(n, path, k, out)
	}
}

// section decodes an optional section, or an optional value: being there is what turns it on.
func (d *decoder) section(n *yaml.Node, path string, k key, out reflect.Value) {
	fresh := reflect.New(out.Type().Elem())
	if fresh.Elem().Kind() == reflect.Struct {
		preset(fresh.Elem())
	}
	d.value(n, path, k, fresh.Elem())
	out.Set(fresh)
}

// record decodes a mapping with known keys.
func (d *decoder) record(n *yaml.Node, path string, out reflect.Value) {
	entries, ok := d.entries(n, path)
	if !ok {
		return
	}
	keys := keysOf(out.Type())
	for _, e := range entries {
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == e.key })
		if i < 0 && path == "" && strings.HasPrefix(e.key, "x-") {
			continue // the user's own, a place for anchors
		}
		if i < 0 {
			names := make([]string, len(keys))
			for i, k := range keys {
				names[i] = k.name
			}
			d.add(e.at, join(path, e.key), CodeUnknownKey, "there is no key %q here%s", clip(e.key),
				didYouMean(e.key, names))
			continue
		}
		d.value(e.value, join(path, e.key), keys[i], out.FieldByIndex(keys[i].field))
	}
	d.missing(keys, path)
}

// missing notes the required keys that were given neither themselves nor by what may stand instead.
func (d *decoder) missing(keys []key, path string) {
	for _, k := range keys {
		instead := k.unless != "" && d.given(join(path, k.unless))
		if p := join(path, k.name); k.required && !d.given(p) && !instead {
			d.addAt(p, CodeMissing, "%s is required", k.name)
		}
	}
}

// table decodes a mapping with free keys.
func (d *decoder) table(n *yaml.Node, path string, k key, out reflect.Value) {
	entries, ok := d.entries(n, path)
	if !ok {
		return
	}
	out.Set(reflect.MakeMapWithSize(out.Type(), len(entries)))
	for _, e := range entries {
		where := join(path, e.key)
		if problem := formName(e.key); problem != nil {
			d.add(e.at, where, problem.code, "%s", problem.message)
			continue
		}
		fresh := reflect.New(out.Type().Elem()).Elem()
		if fresh.Kind() == reflect.Struct {
			preset(fresh)
		}
		d.at[where] = e.at
		element := k.element()
		element.form = ""
		d.value(e.value, where, element, fresh)
		if fresh.Kind() == reflect.Struct && isNull(target(e.value)) {
			d.missing(keysOf(fresh.Type()), where)
		}
		out.SetMapIndex(reflect.ValueOf(e.key), fresh)
	}
}

// list decodes a sequence.
func (d *decoder) list(n *yaml.Node, path string, k key, out reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.addAt(path, CodeWrongType, "want a list, found %s", describe(n))
		return
	}
	if k.required && k.unless == "" && len(n.Content) == 0 {
		d.addAt(path, CodeMissing, "at least one is required")
		return
	}
	out.Set(reflect.MakeSlice(out.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		where := path + "[" + strconv.Itoa(i) + "]"
		element := out.Index(i)
		if element.Kind() == reflect.Struct && !isPlugin(element.Type()) {
			preset(element)
		}
		if isNull(target(item)) {
			d.add(d.origins.place(item), where, CodeMissing, "a list has no empty items")
			continue
		}
		d.value(item, where, k.element(), element)
	}
}

// join appends a key to a path; a key that would read as more than one is quoted.
func join(path, key string) string {
	if !plainKey(key) {
		return path + "[" + strconv.Quote(clip(key)) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func plainKey(key string) bool {
	return key != "" && len(key) <= maxQuoted && !slices.ContainsFunc([]byte(key), func(b byte) bool {
		return !letterOrDigit(b) && b != '_' && b != '-'
	})
}
