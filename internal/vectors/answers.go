package vectors

import (
	"math"
	"slices"
	"strings"
)

// answer is a value of Got that is not met by its equal.
type answer interface {
	meets(want any) bool
}

// Says is met by a text that has its words, and its numbers as all of the text's, in their order.
type Says []any

func (s Says) meets(want any) bool {
	text, ok := want.(string)
	if !ok {
		return false
	}
	rest, numbers := text, []float64{}
	for _, part := range s {
		switch p := plain(part).(type) {
		case float64:
			numbers = append(numbers, p)
		case string:
			_, after, found := strings.Cut(rest, p)
			if !found {
				return false
			}
			rest = after
		}
	}
	// a text has no more than four digits of a number
	return slices.EqualFunc(numbers, Numbers(text), func(a, b float64) bool { return math.Abs(a-b) <= 5e-4 })
}

// Rule is true if Octet keeps the rule that is expected in words.
type Rule bool

func (r Rule) meets(want any) bool {
	_, ok := want.(string)
	return ok && bool(r)
}

// Has is met by a list of which it has all members.
type Has []string

func (h Has) meets(want any) bool {
	list, ok := want.([]any)
	for _, one := range list {
		name, isText := one.(string)
		ok = ok && isText && slices.Contains(h, name)
	}
	return ok
}

// Within is met by an interval [low, high] that holds it.
type Within float64

func (w Within) meets(want any) bool {
	ends, _ := plain(want).([]any)
	if len(ends) != 2 {
		return false
	}
	return AtLeast(w).meets(ends[0]) && AtMost(w).meets(ends[1])
}

// AtLeast is met by a bound that it reaches.
type AtLeast float64

func (a AtLeast) meets(want any) bool {
	bound, ok := want.(float64)
	return ok && float64(a) >= bound
}

// AtMost is met by a bound that it does not exceed.
type AtMost float64

func (a AtMost) meets(want any) bool {
	bound, ok := want.(float64)
	return ok && float64(a) <= bound
}

// Splits is met by a number that is not below Splits[0] and below Splits[1].
type Splits [2]float64

func (s Splits) meets(want any) bool {
	n, ok := want.(float64)
	return ok && s[0] <= n && n < s[1]
}
