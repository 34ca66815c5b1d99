package adapt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// Note says what has become of a part of the source that is not in the result as it was.
type Note struct {
	Path string // in the source, such as router_settings.redis_host, or --cache-threshold
	Line int    // in the source; 0 if it is not known
	Text string
}

// String returns the note as a line.
func (n Note) String() string {
	if n.Line == 0 {
		return n.Path + ": " + n.Text
	}
	return fmt.Sprintf("%s: %s (line %d)", n.Path, n.Text, n.Line)
}

// Notes are all notes on one source.
type Notes struct{ all []Note }

// add adds a note, once.
func (n *Notes) add(line int, path, text string) {
	note := Note{Path: cmp.Or(path, "."), Line: line, Text: text}
	if !slices.Contains(n.all, note) {
		n.all = append(n.all, note)
	}
}

// on adds a note on a value, which is taken with all that is in it.
func (n *Notes) on(v *value, format string, args ...any) {
	if v == nil {
		return
	}
	v.taken = true
	v.items, v.keys = nil, nil
	n.add(v.line, v.path, fmt.Sprintf(format, args...))
}

// rest adds a note on everything that was not looked at. hints say more about keys, by their names.
func (n *Notes) rest(root *value, hints map[string]string) {
	root.untaken(func(v *value) {
		n.on(v, "%s", cmp.Or(hints[nameOf(v.path)], "no counterpart"))
	})
}

// nameOf returns the last key of a path, without the numbers of items.
func nameOf(path string) string {
	for len(path) > 0 && path[len(path)-1] == ']' {
		path = path[:max(lastIndex(path, '['), 0)]
	}
	return path[lastIndex(path, '.')+1:]
}

func lastIndex(s string, b byte) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == b {
			return i
		}
	}
	return -1
}

// sorted returns the notes in the order of the source.
func (n *Notes) sorted() []Note {
	slices.SortStableFunc(n.all, func(a, b Note) int { return cmp.Compare(a.Line, b.Line) })
	return n.all
}

// maxShown is how many bytes of a text of the source are shown.
const maxShown = 64

func clipped(text string) string {
	if len(text) > maxShown {
		return text[:maxShown] + "…"
	}
	return text
}

// shown returns a text of the source as a terminal can show it.
func shown(text string) string { return strconv.Quote(clipped(text)) }
