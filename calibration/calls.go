package calibration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Call is a tool call of an answer. Its id is not kept: it names the call and says nothing of it.
type Call struct {
	Name      string
	Arguments []byte
	Free      bool // the arguments are a text of the tool's own grammar, not JSON
}

// Match says how the tool calls of two answers relate.
type Match string

// The matches.
const (
	SameCalls      Match = "same"      // in any order: calls of one answer are made side by side
	OtherArguments Match = "arguments" // of the same tools, as often
	OtherTools     Match = "tools"
	OneCalls       Match = "one" // the other answer has no call
)

func (m Match) known() bool {
	return slices.Contains([]Match{"", SameCalls, OtherArguments, OtherTools, OneCalls}, m)
}

// calls compares two answers of which at least one has tool calls. They agree if the calls are the same and the texts
// beside them agree.
func (r Rules) calls(primary, shadow Answer) Comparison {
	p, s := len(primary.Calls) > 0, len(shadow.Calls) > 0
	if p != s {
		return Comparison{Class: r.oneCalls(primary, shadow), Method: ByCalls, Distance: 1, Form: FormCalls,
			Calls: OneCalls}
	}
	text := Rules{Tolerance: r.Tolerance}.text(primary, shadow) // the code may be in the calls
	c := Comparison{Class: Agree, Method: ByCalls, Form: FormCalls}
	c.Calls, c.Distance = matchCalls(primary.Calls, shadow.Calls)
	c.Distance = max(c.Distance, text.Distance)
	if c.Calls != SameCalls || text.Class != Agree {
		c.Class = r.differing(primary, shadow)
	}
	return c
}

// oneCalls returns the class of two answers of which one calls tools and the other is a text.
func (r Rules) oneCalls(primary, shadow Answer) Class {
	p := len(primary.Calls) > 0
	class := r.differing(primary, shadow)
	switch {
	case r.MustCall:
		return better(p)
	case class != Differ:
		return class
	case p:
		return PrimaryCalls
	}
	return ShadowCalls
}

// matchCalls holds calls against each other: distance is the share of those without a counterpart, of the answer that
// has more of them.
func matchCalls(primary, shadow []Call) (m Match, distance float64) {
	p, s := identities(primary), identities(shadow)
	distance = overlap(p, s, slices.Compare[leaves])
	if distance == 0 {
		return SameCalls, 0
	}
	if slices.Equal(names(primary), names(shadow)) {
		return OtherArguments, distance
	}
	return OtherTools, distance
}

// identities are what calls say, sorted.
func identities(calls []Call) []leaves {
	all := make([]leaves, 0, len(calls))
	for i := range calls {
		all = append(all, calls[i].identity())
	}
	slices.SortFunc(all, slices.Compare[leaves])
	return all
}

func names(calls []Call) []string {
	all := make([]string, 0, len(calls))
	for i := range calls {
		all = append(all, calls[i].Name)
	}
	slices.Sort(all)
	return all
}

// identity is what a call says: its name and its arguments, as JSON without the order of members, and else as a text
// without the spaces around it. Of JSON, no arguments and an empty object are the same.
func (c *Call) identity() leaves {
	name := seeded(0, []byte(c.Name))
	args := c.given()
	if !c.Free {
		if said, ok := leavesOf(args); ok {
			return append(leaves{name}, said...)
		}
	}
	return leaves{name, seeded(name, args)}
}

// given returns the arguments without spaces around them.
func (c *Call) given() []byte {
	args := bytes.Trim(c.Arguments, spaces)
	if len(args) == 0 && !c.Free {
		args = []byte("{}")
	}
	return args
}

// carriedOut reports whether a client can carry out all calls.
func (r Rules) carriedOut(calls []Call) bool {
	for i := range calls {
		if !r.sound(&calls[i]) {
			return false
		}
	}
	return true
}

// sound reports whether a client can carry a call out: the tool is one of those offered, and its arguments are a JSON
// object.
func (r Rules) sound(c *Call) bool {
	if r.Tools != nil && !slices.Contains(r.Tools, c.Name) {
		return false
	}
	if c.Free {
		return utf8.Valid(c.Arguments)
	}
	args := c.given()
	return args[0] == '{' && json.Valid(args)
}

// overlap is the share of elements that only one of two sorted lists has, of the longer one: 0 is the same, 1 nothing
// in common, as of two empty ones it is 0.
func overlap[E any](a, b []E, compare func(E, E) int) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		order := compare(a[i], b[j])
		if order == 0 {
			common++
		}
		if order <= 0 {
			i++
		}
		if order >= 0 {
			j++
		}
	}
	return 1 - float64(common)/float64(max(len(a), len(b)))
}

// distance is the share of leaves that only one of two values has.
func (l leaves) distance(other leaves) float64 { return overlap(l, other, cmp.Compare[uint64]) }
