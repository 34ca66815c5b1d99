package wire

import "strconv"

// path leads to the value being read. It is spelt out only in a refusal, as messages[2].content[0].text.
type path struct {
	steps [8]step // steps[:depth&7]; no known value lies deeper than five
	depth uint
}

// step is a member by its name, or an element if the name is empty.
type step struct {
	name  string
	index int
}

func (h *path) under(member string) {
	h.steps[h.depth&7] = step{name: member}
	h.depth++
}

func (h *path) index(i int) {
	h.steps[h.depth&7] = step{index: i}
	h.depth++
}

// up goes back by one step.
func (h *path) up() { h.depth-- }

func (h *path) spelt() string {
	var text []byte
	for i, s := range h.steps[:h.depth&7] {
		switch {
		case s.name == "":
			text = append(text, '[')
			text = strconv.AppendInt(text, int64(s.index), 10)
			text = append(text, ']')
		case i > 0:
			text = append(text, '.')
			fallthrough
		default:
			text = append(text, s.name...)
		}
	}
	return string(text)
}
