package sse

import (
	"bytes"

	"octet/gateway/wire"
)

// shape is the JSON around the text of the last chunk that brought one text and nothing else to note but, maybe, its usage so
// far. A chunk with the same bytes around another string and other counts says the same of its own: a stream's chunks mostly
// differ in nothing else, and comparing is many times cheaper than walking.
type shape struct {
	around    [512]byte // head, then tail without its numbers
	head      int       // bytes before the text, with the field's name and the opening quote; 0 is no shape
	tail      int       // bytes after it that are the same each time, with the event's end
	lead      int       // bytes of the head that are no data
	reasoning bool
	collect   bool // it is text of choice 0
	choice    int  // whose it is

	before  [2]int // bytes of the tail before each of its numbers, from the one before
	numbers int    // in the tail
	counts  int    // which of them is the choice's tokens so far
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
	hide    span // what is not given out
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
	size, count := h.after(p[end:], less)
	if end == len(head) || size == 0 {
		return match{}
	}
	m := match{text: p[len(head):end], size: end + size, count: count, counted: h.numbers > 0}
	if escaped && !wire.ValidQuoted(m.text) {
		return match{}
	}
	if h.hidden.to > 0 {
		m.hide = span{end + h.hidden.from, m.size - h.hidden.to + less}
	}
	return m
}

// after matches what comes behind the text; size 0 is otherwise.
func (h *shape) after(p []byte, less int) (size, count int) {
	fixed := h.around[h.head : h.head+h.tail-less]
	for i := range h.numbers {
		n := h.before[i]
		if len(p)-size < n || !bytes.Equal(p[size:size+n], fixed[:n]) {
			return 0, 0
		}
		size, fixed = size+n, fixed[n:]
		value, whole, digits := number(p[size:])
		if !whole || digits == 0 {
			return 0, 0
		}
		if size += digits; i == h.counts {
			count = value
		}
	}
	if len(p)-size < len(fixed) || !bytes.Equal(p[size:size+len(fixed)], fixed) {
		return 0, 0
	}
	return size + len(fixed), count
}

// quotedEnd returns where the quoted text ends that goes on at i: at its quote, or at what may not be in it; and whether there
// is anything escaped in it, which may be wrong.
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

// learn takes on the shape of a chunk, where it is one. hide says that its usage is not given out.
func (h *shape) learn(data []byte, c *chunk, hide bool) {
	if c.texts != 1 || c.otherOutput || len(c.finish) > 0 || bytes.IndexByte(data, '\n') >= 0 { // several lines, joined
		return
	}
	const lead = "data: "
	behind := c.at + c.size // the text
	counted := c.hasUsage && c.choices == 1 && c.completion.from > behind && c.total.from > behind && data[c.usageAt.from] == ','
	if c.timings.to > 0 || c.hasUsage && !counted || len(lead)+len(data)+len(eventEnd) > len(h.around) {
		return
	}
	around := append(append(h.around[:0], lead...), data[:c.at]...)
	h.lead, h.head, h.numbers, h.usage, h.hidden = len(lead), len(around), 0, c.usage, span{}
	if counted {
		behind, around = h.learnNumbers(data, c, around)
		if hide {
			h.hidden = span{c.usageAt.from - c.at - c.size, len(data) - c.usageAt.to + len(eventEnd)}
		}
	}
	around = append(append(around, data[behind:]...), eventEnd...)
	h.tail = len(around) - h.head
	h.reasoning, h.collect, h.choice = c.reasoning, len(c.text) > 0, c.index
}

// learnNumbers appends what is between the text and the last number of the usage, and returns where that ends.
func (h *shape) learnNumbers(data []byte, c *chunk, around []byte) (behind int, _ []byte) {
	numbers := [...]span{c.completion, c.total}
	h.numbers, h.counts = len(numbers), 0
	if c.total.from < c.completion.from {
		numbers[0], numbers[1], h.counts = c.total, c.completion, 1
	}
	behind = c.at + c.size
	for i, n := range numbers {
		h.before[i] = n.from - behind
		around = append(around, data[behind:n.from]...)
		behind = n.to
	}
	return behind, around
}
