package vectors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

type mismatch struct {
	path      string
	got, want any
}

func (m mismatch) String() string { return fmt.Sprintf("%s: %v, want %v", m.path, m.got, m.want) }

// mismatches compares got with an expectation.
func (c *Case) mismatches(got Got, then any) []mismatch {
	return c.compare("", map[string]any(got), then)
}

func (c *Case) compare(path string, got, want any) (all []mismatch) {
	if c.exempt(path) {
		return nil
	}
	switch g := got.(type) {
	case Got:
		return c.members(path, g, want)
	case map[string]any:
		return c.members(path, g, want)
	}
	if !c.meets(got, want) {
		return []mismatch{{path, got, want}}
	}
	return nil
}

// members compares objects: neither has a member that the other has not.
func (c *Case) members(path string, got map[string]any, want any) (all []mismatch) {
	object, ok := want.(map[string]any)
	if !ok {
		return []mismatch{{path, got, want}}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		own := join(path, name)
		if g, there := got[name]; there {
			all = append(all, c.compare(own, g, object[name])...)
		} else if !c.exemptWhole(own, object[name]) {
			all = append(all, mismatch{own, "nothing to compare", object[name]})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, there := object[name]; !there {
			all = append(all, mismatch{join(path, name), got[name], "nothing"})
		}
	}
	return all
}

// exemptWhole returns true if no leaf of what is expected at path is compared.
func (c *Case) exemptWhole(path string, want any) bool {
	return !slices.ContainsFunc(leaves(path, want), func(leaf string) bool { return !c.exempt(leaf) })
}

// meets compares one value that is no object.
func (c *Case) meets(got, want any) bool {
	if own, ok := got.(answer); ok {
		return own.meets(want)
	}
	return c.equal(plain(got), want)
}

// equal compares JSON values, numbers within the tolerance.
func (c *Case) equal(got, want any) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(g-w) <= cmp.Or(c.tolerance, 1e-9)
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(g, w, c.equal)
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && maps.EqualFunc(g, w, c.equal)
	}
	switch got.(type) {
	case []any, map[string]any:
		return false
	}
	return got == want
}

// plain returns v as JSON has it.
func plain(v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("vectors: %T is no answer: %v", v, err))
	}
	return out
}
