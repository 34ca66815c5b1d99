package top

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"octet/cmd/adminclient"
)

// mostMarks are the combining marks that stay on one character: names could be towers of them.
const mostMarks = 2

// clean returns text of others as a terminal can show it: on one line, nothing that it would obey, few combining marks,
// and none that change how wide a character is.
func clean(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	marks := 0
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
			return r
		}
		if marks++; marks > mostMarks || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return r
	}, adminclient.Plain(s))
}

// pad returns s in so many cells: cut with a ~, or filled with spaces on the right, or on the left.
func pad(s string, cells int, left bool) string {
	if cells <= 0 {
		return ""
	}
	s = ansi.Truncate(s, cells, "~")
	space := strings.Repeat(" ", max(cells-ansi.StringWidth(s), 0))
	if left {
		return space + s
	}
	return s + space
}

// style is how a piece of a frame looks: one of the sixteen colours that every terminal has, or none.
type style string

const (
	plain  style = ""
	bold   style = "1"
	good   style = "32"
	warn   style = "33"
	bad    style = "1;31"
	chosen style = "7"
)

func (s style) paint(text string) string {
	if s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}
