// Package wrongtype reads a slot as what it is not. It does not compile.
package wrongtype

import "octet/routing"

var words = routing.NewSlot[[]string]("words")

// First takes the words for one.
func First(v routing.View) (first string) {
	first = words.Get(v)
	return first
}
