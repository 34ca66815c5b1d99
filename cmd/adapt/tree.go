package adapt

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is a node of what was read. A nil value is one that is not there: all its methods are of use.
type value struct {
	path   string // such as model_list[0].litellm_params
	line   int
	kind   yaml.Kind
	tag    string
	text   string // of a scalar
	items  []*value
	keys   []string // of a mapping, in the order of the file
	fields map[string]*value
	taken  bool // it was looked at: it has a counterpart, or a note of its own
}

// get returns a field of a mapping, nil if there is none. The mapping is taken, its field is not.
func (v *value) get(key string) *value {
	if v == nil || v.kind != yaml.MappingNode {
		return nil
	}
	v.taken = true
	return v.fields[key]
}

// list returns the items of a list, or the value itself as the only one where it is a scalar.
func (v *value) list() []*value {
	switch {
	case v == nil || v.null():
		return nil
	case v.kind == yaml.SequenceNode:
		v.taken = true
		return v.items
	case v.kind == yaml.ScalarNode:
		return []*value{v}
	}
	return nil
}

// each calls do with every field of a mapping, which is taken.
func (v *value) each(do func(key string, field *value)) {
	if v == nil || v.kind != yaml.MappingNode {
		return
	}
	v.taken = true
	for _, key := range v.keys {
		do(key, v.fields[key])
	}
}

// word returns the text of a scalar, and takes it; "" if it is none.
func (v *value) word() string {
	if v == nil || v.kind != yaml.ScalarNode || v.null() {
		return ""
	}
	v.taken = true
	return v.text
}

// number returns a number that is given, and takes it.
func (v *value) number() (n float64, given bool) {
	if v == nil || v.kind != yaml.ScalarNode {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.text), 64)
	if err != nil || n != n || n > 1e15 || n < -1e15 {
		return 0, false
	}
	v.taken = true
	return n, true
}

// yes reports whether a switch is on, and takes it.
func (v *value) yes() bool { return strings.EqualFold(v.word(), "true") }

func (v *value) null() bool { return v.kind == yaml.ScalarNode && v.tag == "!!null" }

// untaken calls visit with the topmost values that were not looked at. Empty ones say nothing, and are none.
func (v *value) untaken(visit func(*value)) {
	switch {
	case v.null(), v.kind == yaml.MappingNode && len(v.keys) == 0, v.kind == yaml.SequenceNode && len(v.items) == 0:
	case !v.taken:
		visit(v)
	default:
		for _, key := range v.keys {
			v.fields[key].untaken(visit)
		}
		for _, item := range v.items {
			item.untaken(visit)
		}
	}
}
