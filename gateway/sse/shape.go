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
	head      int       // bytes before the text, its opening quote included; 0 is no shape
	tail      int       // bytes after it
	reasoning bool
	collect   bool // it is text of choice 0
}

// match returns the text of data if data has the shape; the text is not empty.
func (h *shape) match(data []byte) ([]byte, bool) {
	end := len(data) - h.tail
	if h.head == 0 || end <= h.head {
		return nil, false
	}
	if !bytes.Equal(data[:h.head], h.around[:h.head]) || !bytes.Equal(data[end:], h.around[h.head:h.head+h.tail]) {
		return nil, false
	}
	text := data[h.head:end]
	return text, wire.ValidQuoted(text)
}

// learn takes on the shape of a chunk, where it is one.
func (h *shape) learn(data []byte, c *chunk) {
	if c.texts != 1 || c.otherOutput || c.hasUsage || len(c.finish) > 0 {
		return
	}
	tail := data[c.at+c.size:]
	if c.at+len(tail) > len(h.around) {
		return
	}
	h.head, h.tail = c.at, len(tail)
	copy(h.around[:], data[:c.at])
	copy(h.around[c.at:], tail)
	h.reasoning, h.collect = c.reasoning, len(c.text) > 0
}
