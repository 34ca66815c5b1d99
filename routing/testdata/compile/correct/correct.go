// Package correct reads a slot as what it is.
package correct

import "octet/routing"

var words = routing.NewSlot[[]string]("words")

// First returns the first of the words.
func First(v routing.View) string { return words.Get(v)[0] }
