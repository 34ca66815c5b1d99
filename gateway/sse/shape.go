package sse

import (
	"bytes"

	"octet/gateway/wire"
)

// shape is the JSON around the text of the last chunk that brought one text and nothing else to note. A chunk with the
// same bytes around another string says the same of its own text: a stream's chunks mostly differ in nothing else, and
// comparing is many times cheaper than walking.
type shape struct {
	around    [512]byte // head, then tail
	head      int       // bytes before the text, with the field's name and the opening quote; 0 is no shape
	tail      int       // bytes after it, with the event's end
	lead      int       // bytes of the head that are no data
	reasoning bool
	collect   bool // it is text of choice 0
}

// eventEnd is how an event ends whose shape is learnt.
const eventEnd = "\n\n"

// event returns the text of the event that p begins with, and where that ends, if it has the shape; else 0. The text is not
// empty.
func (h *shape) event(p []byte) (text []byte, size int) {
	if h.head == 0 || len(p) <= h.head+h.tail || !bytes.Equal(p[:h.head], h.around[:h.head]) {
		return nil, 0
	}
	end, escaped := quotedEnd(p, h.head)
	size = end + h.tail
	if end == h.head || size > len(p) || !bytes.Equal(p[end:size], h.around[h.head:h.head+h.tail]) {
		return nil, 0
	}
	text = p[h.head:end]
	if escaped && !wire.ValidQuoted(text) {
		return nil, 0
	}
	return text, size
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

// match returns the text of data if data has the shape; the text is not empty.
func (h *shape) match(data []byte) ([]byte, bool) {
	head, tail := h.around[h.lead:h.head], h.around[h.head:h.head+max(0, h.tail-len(eventEnd))]
	end := len(data) - len(tail)
	if len(head) == 0 || end <= len(head) || !bytes.Equal(data[:len(head)], head) || !bytes.Equal(data[end:], tail) {
		return nil, false
	}
	text := data[len(head):end]
	return text, wire.ValidQuoted(text)
}

// learn takes on the shape of a chunk, where it is one.
func (h *shape) learn(data []byte, c *chunk) {
	if c.texts != 1 || c.otherOutput || c.hasUsage || len(c.finish) > 0 || bytes.IndexByte(data, '\n') >= 0 { // several lines, joined
		return
	}
	const lead = "data: "
	tail := data[c.at+c.size:]
	if len(lead)+c.at+len(tail)+len(eventEnd) > len(h.around) {
		return
	}
	around := append(append(h.around[:0], lead...), data[:c.at]...)
	h.lead, h.head, h.tail = len(lead), len(around), len(tail)+len(eventEnd)
	_ = append(append(around, tail...), eventEnd...)
	h.reasoning, h.collect = c.reasoning, len(c.text) > 0
}
