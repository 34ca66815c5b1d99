package emulator

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fitting writes JSON that fits a schema, as a model does whose decoding is guided by one.
type fitting struct {
	rng   *rand.Rand
	topic string         // what strings are about
	words int            // in the first string; below 0 is as it comes
	root  jsontext.Value // that local references are to
}

const (
	fullDepth = 3  // nested objects down to which members are written that are not required
	mostDepth = 12 // nested values at most; what is deeper is null
)

// schema is what is read of one. What is not read binds nothing.
type schema struct {
	Type       jsontext.Value   `json:"type"`
	Enum       []jsontext.Value `json:"enum"`
	Const      jsontext.Value   `json:"const"`
	Properties jsontext.Value   `json:"properties"`
	Required   []string         `json:"required"`
	Items      jsontext.Value   `json:"items"`
	MinItems   int              `json:"minItems"`
	MinLength  int              `json:"minLength"`
	MaxLength  *int             `json:"maxLength"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	Over       *float64         `json:"exclusiveMinimum"`
	Under      *float64         `json:"exclusiveMaximum"`
	AnyOf      []jsontext.Value `json:"anyOf"`
	OneOf      []jsontext.Value `json:"oneOf"`
	AllOf      []jsontext.Value `json:"allOf"`
	Ref        string           `json:"$ref"`
}

// append adds a value that fits raw.
func (f *fitting) append(dst []byte, raw jsontext.Value, depth int) []byte {
	s, ok := readSchema(raw)
	if !ok || depth > mostDepth {
		return append(dst, "null"...)
	}
	for _, nested := range [...][]jsontext.Value{s.AnyOf, s.OneOf, s.AllOf} {
		if len(nested) > 0 {
			return f.append(dst, nested[0], depth+1)
		}
	}
	switch {
	case s.Ref != "":
		return f.append(dst, f.referred(s.Ref), depth+1)
	case len(s.Const) > 0:
		return append(dst, compact(s.Const)...)
	case len(s.Enum) > 0:
		return append(dst, compact(s.Enum[f.rng.IntN(len(s.Enum))])...)
	}
	return f.typed(dst, &s, depth)
}

// typed adds a value of s's type.
func (f *fitting) typed(dst []byte, s *schema, depth int) []byte {
	switch s.kind() {
	case "object":
		return f.object(dst, s, depth)
	case "array":
		return f.array(dst, s, depth)
	case "integer":
		return strconv.AppendInt(dst, int64(s.number(f.rng)), 10)
	case "number":
		return strconv.AppendFloat(dst, s.number(f.rng), 'g', -1, 64)
	case "boolean":
		return strconv.AppendBool(dst, f.rng.IntN(2) == 0)
	case "null":
		return append(dst, "null"...)
	default:
		return quoted(dst, f.text(s))
	}
}

// kind returns the first type that a schema allows.
func (s *schema) kind() string {
	var name string
	var names []string
	switch {
	case len(s.Type) == 0 && len(s.Properties) > 0:
		return "object"
	case len(s.Type) == 0 && len(s.Items) > 0:
		return "array"
	case unmarshals(s.Type, &name):
		return name
	case unmarshals(s.Type, &names) && len(names) > 0:
		return names[0]
	}
	return "string"
}

// object adds the members that s requires, and near the root all others.
func (f *fitting) object(dst []byte, s *schema, depth int) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for _, m := range membersOf(s.Properties) {
		if depth >= fullDepth && !slices.Contains(s.Required, m.name) {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ", "...)
		}
		dst = append(quoted(dst, m.name), ": "...)
		dst = f.append(dst, m.value, depth+1)
	}
	return append(dst, '}')
}

func (f *fitting) array(dst []byte, s *schema, depth int) []byte {
	dst = append(dst, '[')
	items := s.Items
	if len(items) == 0 {
		items = jsontext.Value(`{"type":"string"}`)
	}
	for i := range min(max(s.MinItems, 1), 64) {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = f.append(dst, items, depth+1)
	}
	return append(dst, ']')
}

// number returns a whole number within s's bounds.
func (s *schema) number(rng *rand.Rand) float64 {
	low, high := 0.0, math.Inf(1)
	for _, bound := range [...]*float64{s.Minimum, s.Over} {
		if bound != nil {
			low = math.Ceil(*bound)
		}
	}
	if s.Over != nil && low == *s.Over {
		low++
	}
	if s.Maximum != nil {
		high = math.Floor(*s.Maximum)
	}
	if s.Under != nil {
		high = math.Ceil(*s.Under) - 1
	}
	if high < low && s.Minimum == nil && s.Over == nil {
		low = high
	}
	return min(low+float64(rng.IntN(40)), max(high, low))
}

// text returns a string about the topic.
func (f *fitting) text(s *schema) string {
	words := 1 + f.rng.IntN(3)
	if f.words >= 0 {
		words, f.words = f.words, -1
	}
	text := make([]string, words)
	for i := range text {
		text[i] = stringWords[f.rng.IntN(len(stringWords))]
	}
	if len(text) > 0 {
		text[0] = f.topic
	}
	out := strings.Join(text, " ")
	for len(out) < min(s.MinLength, maxDirected) {
		out += "x"
	}
	if s.MaxLength != nil && *s.MaxLength >= 0 && len(out) > *s.MaxLength {
		out = out[:*s.MaxLength] // ASCII
	}
	return out
}

// stringWords are the words of strings.
var stringWords = []string{"src/", "include", "vector", "allocator", "line", "--build", "tests", "const&", "header",
	"the", "of", "lock_guard", "\"quoted\"", "a\\b", "42", "main.cpp", "to", "and", "leak", "noexcept"}

// referred returns what a reference within the root is to.
func (f *fitting) referred(ref string) jsontext.Value {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := f.root
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name == "" {
			continue
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		var next jsontext.Value
		for _, m := range membersOf(at) {
			if m.name == name {
				next = m.value
			}
		}
		at = next
	}
	return at
}

// jsonMember is a member of an object.
type jsonMember struct {
	name  string
	value jsontext.Value
}

// membersOf returns the members of an object in their order; none of any other value.
func membersOf(object jsontext.Value) (members []jsonMember) {
	if object.Kind() != '{' {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return members
		}
		m := jsonMember{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return members
		}
		m.value = value.Clone()
		members = append(members, m)
	}
	return members
}

// readSchema returns false for what is no schema that a value could be written for.
func readSchema(raw jsontext.Value) (s schema, ok bool) {
	if raw.Kind() == 't' {
		return s, true
	}
	return s, raw.Kind() == '{' && unmarshals(raw, &s)
}

func unmarshals(raw jsontext.Value, into any) bool {
	return len(raw) > 0 && json.Unmarshal(raw, into) == nil
}
