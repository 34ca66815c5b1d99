package routing

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
)

// Params hands a plugin's parameters to its Factory. What is asked for is known; what is left over is a fault.
type Params struct {
	values  map[string]any
	asked   map[string]bool
	headers []string // request headers that plugins see; nil: any
	faults  []Fault  // Code and Message only; Build adds the rest
}

// Given returns true if the configuration has a parameter of that name.
func (p *Params) Given(name string) bool {
	_, ok := p.values[name]
	return ok
}

// Int returns the whole number under name, or def when it is absent. A fault unless lo <= value <= hi.
func (p *Params) Int(name string, def, lo, hi int) int {
	v, ok := p.take(name)
	if !ok {
		return def
	}
	n, ok := toFloat(v)
	if !ok || n != math.Trunc(n) || n < float64(lo) || n > float64(hi) {
		p.fault(CodeInvalidParameter, "%s is %v, want a whole number from %d to %d", name, v, lo, hi)
		return def
	}
	return int(n)
}

// Float returns the number under name, or def when it is absent. A fault unless lo <= value <= hi.
func (p *Params) Float(name string, def, lo, hi float64) float64 {
	v, ok := p.take(name)
	if !ok {
		return def
	}
	n, ok := toFloat(v)
	if !ok || !(n >= lo && n <= hi) {
		p.fault(CodeInvalidParameter, "%s is %v, want a number from %g to %g", name, v, lo, hi)
		return def
	}
	return n
}

// Bool returns the truth value under name, or def when it is absent.
func (p *Params) Bool(name string, def bool) bool {
	v, ok := p.take(name)
	if !ok {
		return def
	}
	on, ok := v.(bool)
	if !ok {
		p.fault(CodeInvalidParameter, "%s is %v, want true or false", name, v)
		return def
	}
	return on
}

// Text returns the text under name, or def when it is absent. A fault where it is empty, or none of allowed where some
// are given.
func (p *Params) Text(name, def string, allowed ...string) string {
	v, ok := p.take(name)
	if !ok {
		return def
	}
	text, ok := v.(string)
	switch {
	case ok && len(allowed) == 0 && text != "", ok && slices.Contains(allowed, text):
		return text
	case len(allowed) == 0:
		p.fault(CodeInvalidParameter, "%s is %v, want a text", name, v)
	default:
		p.fault(CodeInvalidParameter, "%s is %v, want one of %s", name, v, strings.Join(allowed, ", "))
	}
	return def
}

// Header returns the canonical name of the request header under name, or "" when it is absent. A fault where plugins do
// not see that header, so that it would count as one that no request has.
func (p *Params) Header(name string) string {
	header := http.CanonicalHeaderKey(p.Text(name, ""))
	listed := func(other string) bool { return http.CanonicalHeaderKey(other) == header }
	if header != "" && p.headers != nil && !slices.ContainsFunc(p.headers, listed) {
		p.fault(CodeInvalidParameter,
			"%s is %s, which limits.profile_headers does not list: plugins see no other header",
			name, header)
	}
	return header
}

// Texts returns the list of texts under name, or nil when it is absent. A single text stands for a list of one.
func (p *Params) Texts(name string) []string {
	v, ok := p.take(name)
	if !ok {
		return nil
	}
	texts, ok := toTexts(v)
	if !ok {
		p.fault(CodeInvalidParameter, "%s is %v, want a list of texts", name, v)
	}
	return texts
}

// Numbers returns the mapping from texts to numbers under name, or nil when it is absent. A fault unless lo <= each <=
// hi.
func (p *Params) Numbers(name string, lo, hi float64) map[string]float64 {
	v, ok := p.take(name)
	if !ok {
		return nil
	}
	values, ok := v.(map[string]any)
	if !ok {
		p.fault(CodeInvalidParameter, "%s is %v, want a mapping to numbers", name, v)
		return nil
	}
	numbers := map[string]float64{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		n, ok := toFloat(values[key])
		if !ok || !(n >= lo && n <= hi) {
			p.fault(CodeInvalidParameter, "%s.%s is %v, want a number from %g to %g", name, key, values[key], lo, hi)
			continue
		}
		numbers[key] = n
	}
	return numbers
}

// Map returns the mapping from texts to texts under name, or nil when it is absent.
func (p *Params) Map(name string) map[string]string {
	v, ok := p.take(name)
	if !ok {
		return nil
	}
	texts, ok := toTextMap(v)
	if !ok {
		p.fault(CodeInvalidParameter, "%s is %v, want a mapping to texts", name, v)
	}
	return texts
}

// Parts calls each for every mapping of the list under name, as Params of its own, whose faults become p's.
func (p *Params) Parts(name string, each func(part *Params)) {
	v, ok := p.take(name)
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok {
		p.fault(CodeInvalidParameter, "%s is %v, want a list of mappings", name, v)
		return
	}
	for i, item := range list {
		values, ok := item.(map[string]any)
		if !ok {
			p.fault(CodeInvalidParameter, "%s[%d] is %v, want a mapping", name, i, item)
			continue
		}
		part := Params{values: values, headers: p.headers}
		each(&part)
		part.rest()
		for _, f := range part.faults {
			p.fault(f.Code, "%s[%d]: %s", name, i, f.Message)
		}
	}
}

// Refuse says what else is wrong with the parameters.
func (p *Params) Refuse(format string, args ...any) { p.fault(CodeInvalidParameter, format, args...) }

// Known returns the names of the parameters that were asked for, ascending.
func (p *Params) Known() []string { return slices.Sorted(maps.Keys(p.asked)) }

// Need says that the plugin cannot work without a part of the program that is there only if ok.
func (p *Params) Need(part string, ok bool) {
	if !ok {
		p.fault(CodeMissingDependency, "needs %s, which this program runs without", part)
	}
}

func (p *Params) take(name string) (any, bool) {
	if p.asked == nil {
		p.asked = map[string]bool{}
	}
	p.asked[name] = true
	v, ok := p.values[name]
	return v, ok
}

func (p *Params) fault(code Code, format string, args ...any) {
	p.faults = append(p.faults, Fault{Code: code, Message: fmt.Sprintf(format, args...)})
}

// rest adds a fault for every parameter that was not asked for, by name.
func (p *Params) rest() {
	for _, name := range slices.Sorted(maps.Keys(p.values)) {
		if !p.asked[name] {
			p.fault(CodeUnknownParameter, "has no parameter %q", name)
		}
	}
}

// toFloat reads the number types that YAML and JSON decoders produce.
func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case uint64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

func toTexts(v any) ([]string, bool) {
	switch list := v.(type) {
	case string:
		return []string{list}, true
	case []string:
		return list, true
	case []any:
		texts := make([]string, len(list))
		for i, item := range list {
			text, ok := item.(string)
			if !ok {
				return nil, false
			}
			texts[i] = text
		}
		return texts, true
	}
	return nil, false
}

func toTextMap(v any) (map[string]string, bool) {
	switch values := v.(type) {
	case map[string]string:
		return values, true
	case map[string]any:
		texts := make(map[string]string, len(values))
		for key, item := range values {
			text, ok := item.(string)
			if !ok {
				return nil, false
			}
			texts[key] = text
		}
		return texts, true
	}
	return nil, false
}
