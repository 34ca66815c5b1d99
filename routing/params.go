package routing

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Params hands a plugin's parameters to its Factory. What is asked for is known; what is left over is a fault.
type Params struct {
	values map[string]any
	asked  map[string]bool
	faults []Fault // Code and Message only; Build adds the rest
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
