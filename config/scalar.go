package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// problem is a fault that does not know its place yet.
type problem struct{ code, message string }

func wrong(code, format string, args ...any) *problem {
	return &problem{code: code, message: fmt.Sprintf(format, args...)}
}

// scalar decodes a single value.
func (d *decoder) scalar(n *yaml.Node, path string, k key, out reflect.Value) {
	tags, noun := accepts(out.Type())
	if tags[0] == intTag && n.Tag == floatTag && strings.Trim(n.Value, "+-_0123456789") == "" {
		tags = append(tags, floatTag) // a whole number that YAML has no type for: out of range, not of another type
	}
	if k.form == "instant" {
		tags = append(tags, timestampTag) // as a time without quotes is read
	}
	if n.Kind != yaml.ScalarNode || !slices.Contains(tags, n.Tag) && !(d.origins.has(n) && tags[0] == strTag) {
		hint := ""
		if n.Kind == yaml.ScalarNode && noun == "text" {
			hint = "; put it in quotes"
		}
		d.addAt(path, CodeWrongType, "want %s, found %s%s", noun, describe(n), hint)
		return
	}
	text := n.Value
	if out.Kind() == reflect.String {
		var p *problem
		if text, p = d.expand(text); p != nil {
			d.addAt(path, p.code, "%s", p.message)
			return
		}
	}
	if k.form == engineForm {
		k.enum = d.engines
	}
	if p := parse(text, k, out); p != nil {
		d.addAt(path, p.code, "%s", p.message)
	}
}

// accepts returns the YAML tags that a Go type can be read from, and what to call it.
func accepts(t reflect.Type) (tags []string, noun string) {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return []string{strTag, intTag}, "a duration such as 30s"
	case t == reflect.TypeFor[Size]():
		return []string{strTag, intTag}, "a size such as 8MiB"
	case t.Kind() == reflect.String:
		return []string{strTag}, "text"
	case t.Kind() == reflect.Bool:
		return []string{boolTag}, "true or false"
	case t.Kind() == reflect.Float64:
		return []string{floatTag, intTag}, "a number"
	}
	return []string{intTag}, "a whole number"
}

// parse reads text into out as k allows. nil: out is set. Else out is untouched.
func parse(text string, k key, out reflect.Value) *problem {
	read, p := read(text, out.Type())
	if p == nil && out.Kind() == reflect.String {
		p = k.allows(text)
	}
	if p == nil && k.low != "" && !k.within(read) {
		p = wrong(CodeOutOfRange, "%s is not between %s and %s", clip(text), k.low, k.high)
	}
	if p == nil {
		out.Set(read)
	}
	return p
}

// read reads text as a value of type t.
func read(text string, t reflect.Type) (reflect.Value, *problem) {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return readDuration(text, v)
	case t == reflect.TypeFor[Size]():
		size, err := ParseSize(text)
		if err != nil {
			return v, wrong(CodeBadSize, "%s", err)
		}
		v.SetInt(int64(size))
		return v, nil
	}
	return readPlain(text, v)
}

func readDuration(text string, v reflect.Value) (reflect.Value, *problem) {
	d, err := time.ParseDuration(text)
	if err != nil {
		hint := ""
		if strings.Contains(text, "${") {
			hint = "; variables are read in text alone"
		}
		return v, wrong(CodeBadDuration, "%q is not a duration with a unit, such as 30s or 5ms%s", clip(text), hint)
	}
	v.SetInt(int64(d))
	return v, nil
}

// readPlain reads what YAML itself has a type for.
func readPlain(text string, v reflect.Value) (reflect.Value, *problem) {
	digits := strings.ReplaceAll(text, "_", "")
	var err error
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(strings.EqualFold(text, "true"))
	case reflect.Float64:
		var f float64
		f, err = strconv.ParseFloat(digits, 64)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			err = strconv.ErrRange
		}
		v.SetFloat(f)
	case reflect.Uint64:
		var u uint64
		u, err = strconv.ParseUint(digits, 0, 64)
		v.SetUint(u)
	default:
		var i int64
		i, err = strconv.ParseInt(digits, 0, v.Type().Bits())
		v.SetInt(i)
	}
	if err != nil {
		return v, wrong(CodeOutOfRange, "%q is not a number that this key can hold", clip(text))
	}
	return v, nil
}

// within compares v with the key's bounds, which are written as values of the same type.
func (k key) within(v reflect.Value) bool {
	low, lowFault := read(k.low, v.Type())
	high, highFault := read(k.high, v.Type())
	if lowFault != nil || highFault != nil {
		panic(fmt.Sprintf("config: bad range %s..%s of %s", k.low, k.high, k.name))
	}
	if v.Kind() == reflect.Float64 {
		return low.Float() <= v.Float() && v.Float() <= high.Float()
	}
	return low.Int() <= v.Int() && v.Int() <= high.Int()
}

// allows checks text against the key's enum and form. Empty text means "none", which a key
// that is required, or that has a default and a form, does not accept.
func (k key) allows(text string) *problem {
	if len(k.enum) > 0 {
		if !slices.Contains(k.enum, text) {
			return wrong(CodeBadValue, "%q is not one of %s", clip(text), list(k.enum))
		}
		return nil
	}
	if text == "" {
		if k.required {
			return wrong(CodeMissing, "%s is required", k.name)
		}
		if k.preset != "" && k.form != "" {
			return wrong(CodeMissing, "%s cannot be empty; without the key it is %s", k.name, k.preset)
		}
		return nil
	}
	if check := forms[k.form]; check != nil {
		return check(text)
	}
	return nil
}
