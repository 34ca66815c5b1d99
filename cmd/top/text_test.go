package top

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// Issue 22, bad input: what a terminal would obey in a name does not reach it, and wide or stacked runes keep to their
// cells.
func TestNamesAreHarmlessAndKeepToTheirCells(t *testing.T) {
	for name, want := range map[string]string{
		"debug-0":                         "debug-0",
		"a\x1b[2Jb\x07\n\r\x9bc":          "a?[2Jb???\ufffdc",
		"right\u202eleft\u200b":           "right?left?",
		"漢字":                              "漢字",
		"e\u0301" + "e\u0301\u0302\u0303": "e\u0301e\u0301\u0302",
		"\u2764\ufe0f":                    "\u2764",
	} {
		if got := clean(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
	for _, s := range []string{"", "a", "漢字漢字漢字", strings.Repeat("n", 256), "a漢"} {
		for cells := range 12 {
			for _, left := range []bool{true, false} {
				if w := ansi.StringWidth(pad(clean(s), cells, left)); w != cells {
					t.Errorf("%q in %d cells is %d wide", s, cells, w)
				}
			}
		}
	}
}
