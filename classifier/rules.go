package classifier

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// ErrRule is a rule that cannot be asked.
var ErrRule = errors.New("classifier: a rule that cannot be asked")

// Bounds of the rules: together they cost at most one search for each of MaxLiterals in what is read of a request.
const (
	MaxRules       = 64
	MaxLiterals    = 256 // of all rules together
	MinLiteralSize = 2   // bytes
	MaxLiteralSize = 128
)

// Rule sends texts that hold some of its literals to a specialist, before the detectors of this package are asked.
type Rule struct {
	Name       string
	Specialist string
	Literals   []string // as they stand in the text, upper and lower case apart
	AtLeast    int      // how many different ones have to be there
}

// checkRules refuses what could cost more than is bounded, or never fire.
func checkRules(rules []Rule, specialists []string) error {
	literals := 0
	for i, r := range rules {
		literals += len(r.Literals)
		switch {
		case r.Name == "" || slices.ContainsFunc(rules[:i], func(o Rule) bool { return o.Name == r.Name }):
			return fmt.Errorf("%w: %q is no name, or twice there", ErrRule, r.Name)
		case !slices.Contains(specialists, r.Specialist):
			return fmt.Errorf("%w: %s leads to %.64q, which is no specialist", ErrRule, r.Name, r.Specialist)
		case r.AtLeast < 1 || r.AtLeast > len(r.Literals):
			return fmt.Errorf("%w: %s wants %d of %d literals", ErrRule, r.Name, r.AtLeast, len(r.Literals))
		}
		for j, l := range r.Literals {
			if len(l) < MinLiteralSize || len(l) > MaxLiteralSize || slices.Contains(r.Literals[:j], l) {
				return fmt.Errorf("%w: %s has the literal %.140q, twice or not of %d to %d bytes", ErrRule, r.Name, l,
					MinLiteralSize, MaxLiteralSize)
			}
		}
	}
	if len(rules) > MaxRules || literals > MaxLiterals {
		return fmt.Errorf("%w: %d rules with %d literals, at most %d with %d", ErrRule, len(rules), literals, MaxRules,
			MaxLiterals)
	}
	return nil
}

// follow asks the configured rules in their order; the first that fires makes v its verdict. The precision of
// a rule is not measured, so the verdict has no confidence.
func (c *Cascade) follow(in *Input, v *Verdict) bool {
	if len(c.cfg.Rules) == 0 {
		return false
	}
	var parts [8][]byte // more are rare: a conversation of many short turns
	read := parts[:0]
	in.read(func(part []byte) { read = append(read, part) })
	for i := range c.cfg.Rules {
		r := &c.cfg.Rules[i]
		var seen []string
		for _, l := range r.Literals {
			if slices.ContainsFunc(read, func(part []byte) bool { return bytes.Contains(part, []byte(l)) }) {
				seen = append(seen, l)
			}
		}
		if len(seen) >= r.AtLeast {
			v.Specialist, v.RoutedBy, v.Rule, v.Cues = r.Specialist, ByDetector, "rule "+r.Name, seen
			return true
		}
	}
	return false
}
