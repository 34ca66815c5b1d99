package plugins

import (
	"errors"
	"slices"

	"octet/routing"
)

// Rule has requests of a kind go one way.
type Rule struct {
	Intent                   string // declared; "" means any
	Undeclared               bool   // no intent may be declared
	PriorityMin, PriorityMax int
	TokensMin, TokensMax     int // of the prompt; TokensMax zero means no limit
	Headers                  routing.Headers
	Way                      int
	Next                     bool   // what finds no candidate this way goes by the next rule that it fits
	Why                      string // in a few words
}

// Rules is the Handler by which a request goes the way of the first rule that it fits.
type Rules []Rule

var _ routing.Handler = Rules(nil)

// Reads implements routing.Handler.
func (r Rules) Reads() []routing.AnySlot {
	if slices.ContainsFunc(r, func(r Rule) bool { return r.TokensMin > 0 || r.TokensMax > 0 }) {
		return reads(PromptTokens)
	}
	return nil
}

// Pick implements routing.Handler. A way is taken once: a later rule that leads where no candidate was left is passed
// over.
func (r Rules) Pick(v routing.View, earlier []routing.Cycle) (way int, why string) {
	if n := len(earlier); n > 0 && !r.goesOn(v, &earlier[n-1]) {
		return -1, ""
	}
	for i := range r {
		taken := func(c routing.Cycle) bool { return c.Way == r[i].Way }
		if r[i].fits(v) && !slices.ContainsFunc(earlier, taken) {
			return r[i].Way, r[i].Why
		}
	}
	return -1, ""
}

// goesOn returns true if the next rule is up after a cycle.
func (r Rules) goesOn(v routing.View, last *routing.Cycle) bool {
	if !errors.Is(last.Err, routing.ErrNoCandidate) {
		return false
	}
	by := slices.IndexFunc(r, func(r Rule) bool { return r.Way == last.Way && r.fits(v) })
	return by >= 0 && r[by].Next
}

// fits returns true if a request fulfils all of the rule.
func (r *Rule) fits(v routing.View) bool {
	f := v.Facts()
	if r.Intent != "" && f.Intent != r.Intent || r.Undeclared && f.Intent != "" ||
		f.Priority < r.PriorityMin || f.Priority > r.PriorityMax {
		return false
	}
	for i := range r.Headers {
		if h := &r.Headers[i]; f.Headers.Value(h.Name) != h.Value {
			return false
		}
	}
	if r.TokensMin == 0 && r.TokensMax == 0 {
		return true
	}
	tokens := PromptTokens.Get(v)
	return tokens >= r.TokensMin && (r.TokensMax == 0 || tokens <= r.TokensMax)
}
