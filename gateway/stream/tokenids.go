package stream

import (
	"bytes"
	"slices"

	"octet/engine"
	"octet/gateway/wire"
)

// tokenIDs are what a completion goes on from exactly: its text may be cut into other tokens than it was generated as.
type tokenIDs struct {
	from   int    // tokens of the answer that are in the prompt
	prompt []byte // as an engine had it: ids with commas between
	text   []byte // of the tokens whose text the client has, likewise
	count  int    // of text
	ahead  []byte // of tokens whose text has not come
	late   int    // of ahead
	loose  bool   // an event brought several: the text of the last may not have come
}

// byIDs reports whether engines of kind e tell the ids from which the answer to r could be continued. With a stop
// string an engine holds text back, which it would not say again behind its ids.
func (c *Continuation) byIDs(r *wire.Request, kind wire.Kind, e *engine.Kind) bool {
	return c != nil && kind == wire.Completion && e.Streams.IDs && !r.Stop
}

// keepIDs takes what one event brought.
func (c *Continuation) keepIDs(prompt, ids []byte, spoken bool) {
	t := &c.ids
	if t.prompt == nil {
		t.prompt = bytes.Clone(prompt)
	}
	n := bytes.Count(ids, []byte{','}) + 1
	t.ahead, t.late = append(append(t.ahead, ','), ids...), t.late+n
	if !spoken {
		return
	}
	t.text, t.count = append(t.text, t.ahead...), t.count+t.late
	t.ahead, t.late, t.loose = t.ahead[:0], 0, n > 1
}

// idsSoFar is the prompt with all of the answer so far, as ids; nil where they are not known to be just what the client
// has.
func (c *Continuation) idsSoFar() []byte {
	if t := &c.ids; len(t.prompt) > 0 && t.from+t.count == c.base && !t.loose {
		return slices.Concat([]byte{'['}, t.prompt, t.text, []byte{']'})
	}
	return nil
}
