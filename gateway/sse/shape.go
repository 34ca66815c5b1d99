package sse

import (
	"bytes"

	"octet/gateway/wire"
)

// shape is the JSON around the text of the last chunk that brought one text and nothing else to note but, maybe, its
// usage so far. A chunk with the same bytes around another string and other counts says the same of its own: a stream's
// chunks mostly differ in nothing else, and comparing is many times cheaper than walking.
type shape struct {
	around    [512]byte // head, then tail without its numbers
	head      int       // bytes before the text, with the field's name and the opening quote; 0 is no shape
	tail      int       // bytes after it that are the same each time, with the event's end
	lead      int       // bytes of the head that are no data
	reasoning bool
	collect   bool // it is text of choice 0
	choice    int  // whose it is
	called    bool // it is arguments of a tool call
	call      int  // whose index this is

	before  [3]int // bytes of the tail before each of its values that differ, from the one before
	values  int    // that differ: a list of token ids, then the numbers of a usage
	listed  bool   // the first of them is a list
	numbers int    // of the usage
	counts  int    // which of the values is the choice's tokens so far
	usage   Usage  // of the chunk, where there are numbers
	hidden  span   // what of the tail is not given out, from its begin and from its end; empty is nothing
}

// eventEnd is how an event ends whose shape is learnt.
const eventEnd = "\n\n"

// match is what an event says that has the shape.
type match struct {
	text    []byte // not empty
	size    int    // of the event, or of its data; 0 is no match
	count   int    // its usage says so many tokens
	counted bool
	hide    span   // what is not given out
	ids     span   // the list of token ids; empty if its to is 0
	list    []byte // what is between its brackets
}

// event matches the event that p begins with.
func (h *shape) event(p []byte) match { return h.match(p, h.around[:h.head], 0) }

// data matches data, all of it.
func (h *shape) data(data []byte) match {
	if h.head == 0 {
		return match{}
	}
	m := h.match(data, h.around[h.lead:h.head], len(eventEnd))
	if m.size != len(data) {
		return match{}
	}
	return m
}

// match compares what p begins with: head, a text, and the tail up to less bytes before its end.
func (h *shape) match(p, head []byte, less int) match {
	if len(head) == 0 || len(p) <= len(head) || !bytes.Equal(p[:len(head)], head) {
		return match{}
	}
	end, escaped := quotedEnd(p, len(head))
	size, count, ids := h.after(p[end:], less)
	if end == len(head) || size == 0 {
		return match{}
	}
	m := match{text: p[len(head):end], size: end + size, count: count, counted: h.numbers > 0}
	if escaped && !wire.ValidQuoted(m.text) {
		return match{}
	}
	if h.listed {
		m.ids = span{end + ids.from, end + ids.to}
		m.list = p[m.ids.from+1 : m.ids.to-1]
	}
	if h.hidden.to > 0 {
		m.hide = span{end + h.hidden.from + ids.to - ids.from, m.size - h.hidden.to + less}
	}
	return m
}

// after matches what comes behind the text; size 0 is otherwise.
func (h *shape) after(p []byte, less int) (size, count int, ids span) {
	fixed := h.around[h.head : h.head+h.tail-less]
	for i := range h.values {
		n := h.before[i]
		if len(p)-size < n || !bytes.Equal(p[size:size+n], fixed[:n]) {
			return 0, 0, span{}
		}
		size, fixed = size+n, fixed[n:]
		value, n := h.value(p[size:], i)
		if n == 0 {
			return 0, 0, span{}
		}
		switch {
		case i == 0 && h.listed:
			ids = span{size, size + n}
		case i == h.counts:
			count = value
		}
		size += n
	}
	if len(p)-size < len(fixed) || !bytes.Equal(p[size:size+len(fixed)], fixed) {
		return 0, 0, span{}
	}
	return size + len(fixed), count, ids
}

// value reads the beginning of p as the i-th value that differs; size is 0 if it is no such value.
func (h *shape) value(p []byte, i int) (n, size int) {
	if i == 0 && h.listed {
		return 0, plainList(p)
	}
	n, whole, size := number(p)
	if !whole {
		return 0, 0
	}
	return n, size
}

// plainList returns the length of the list of integers that p begins with, written without spaces; 0 for anything else.
func plainList(p []byte) int {
	if len(p) == 0 || p[0] != '[' {
		return 0
	}
	for i := 1; i < len(p); i++ {
		_, whole, digits := number(p[i:])
		if i += digits; !whole || digits == 0 || i >= len(p) || p[i] != ',' && p[i] != ']' {
			return 0
		}
		if p[i] == ']' {
			return i + 1
		}
	}
	return 0
}

// quotedEnd returns where the quoted text ends that goes on at i: at its quote, or at what may not be in it; and
// whether there is anything escaped in it, which may be wrong.
func quotedEnd(p []byte, i int) (end int, escaped bool) {
	for ; i < len(p); i++ {
		switch ch := p[i]; {
		case ch == '"' || ch < ' ':
			return i, escaped
		case ch == '\\':
			escaped = true
			i++
		}
	}
	return len(p), escaped
}

// counted reports whether a chunk's usage can be skipped: it is of one choice and stands behind the text, as a member
// of its own.
func (c *chunk) counted(data []byte, behind int) bool {
	return c.hasUsage && c.choices == 1 && c.completion.from > behind && c.total.from > behind &&
		data[c.usageAt.from] == ','
}

// ordinary reports whether a chunk is one text on one line, and does not end its choice.
func ordinary(data []byte, c *chunk) bool {
	return c.texts == 1 && !c.otherOutput && len(c.finish) == 0 && bytes.IndexByte(data, '\n') < 0
}

// learn takes on the shape of a chunk, where it is one. hide is what of its usage is not given out, empty is nothing.
func (h *shape) learn(data []byte, c *chunk, hide span) {
	if !ordinary(data, c) {
		return
	}
	const lead = "data: "
	behind := c.at + c.size // the text
	counted := c.counted(data, behind)
	listed := c.ids.from > behind && c.choices == 1
	if c.timings.to > 0 || c.ahead(data, hide) || c.hasUsage && !counted || c.ids.to > 0 && !listed ||
		c.promptIDs.to > 0 || len(lead)+len(data)+len(eventEnd) > len(h.around) {
		return
	}
	around := append(append(h.around[:0], lead...), data[:c.at]...)
	h.lead, h.head, h.numbers, h.usage, h.hidden = len(lead), len(around), 0, c.usage, span{}
	h.values, h.listed = 0, listed
	if listed {
		behind, around = h.differs(data, around, behind, c.ids)
	}
	if counted {
		behind, around = h.learnNumbers(data, c, around, behind)
	}
	if hide.to > 0 { // from the text's end, without the length of a list between
		h.hidden = span{hide.from - c.at - c.size - (c.ids.to - c.ids.from), len(data) - hide.to + len(eventEnd)}
	}
	around = append(append(around, data[behind:]...), eventEnd...)
	h.tail = len(around) - h.head
	h.reasoning, h.collect, h.choice = c.reasoning, len(c.text) > 0, c.index
}

// ahead returns true if what is hidden does not stand behind the text and the ids, or begins its object.
func (c *chunk) ahead(data []byte, hide span) bool {
	return hide.to > 0 && (hide.from < c.at+c.size || hide.from < c.ids.to || data[c.usageAt.from] != ',')
}

// learnNumbers takes on the numbers of a usage.
func (h *shape) learnNumbers(data []byte, c *chunk, around []byte, behind int) (int, []byte) {
	first, second := c.completion, c.total
	h.numbers, h.counts = 2, h.values
	if second.from < first.from {
		first, second, h.counts = second, first, h.values+1
	}
	behind, around = h.differs(data, around, behind, first)
	return h.differs(data, around, behind, second)
}

// differs takes on a value that is not the same each time: what is before it is appended to around, and it is passed.
func (h *shape) differs(data, around []byte, behind int, value span) (int, []byte) {
	h.before[h.values] = value.from - behind
	h.values++
	return value.to, append(around, data[behind:value.from]...)
}
