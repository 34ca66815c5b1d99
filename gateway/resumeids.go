package gateway

import (
	"bytes"
	"slices"

	"octet/gateway/ensemble"
	"octet/gateway/wire"
)

// idsMember asks vLLM for the ids of the prompt, with the first event, and of the tokens of each.
const idsMember = "return_token_ids"

// tokenIDs are what a completion goes on from exactly: its text may be cut into other tokens than it was generated as.
type tokenIDs struct {
	from   int    // tokens of the answer that are in the prompt
	prompt []byte // as an engine had it: ids with commas between
	said   []byte // of the tokens whose text the client has, likewise
	count  int    // of said
	ahead  []byte // of tokens whose text has not come
	late   int    // of ahead
	loose  bool   // an event brought several: the text of the last may not have come
}

// goesOnByIDs reports whether this replica's engine tells the ids from which the answer could go on. With a stop string
// an engine holds text back, which it would not say again behind its ids.
func (x *exchange) goesOnByIDs(rep *ensemble.Replica) bool {
	return x.cont != nil && x.kind == wire.Completion && rep.Kind.Streams.IDs && !x.req.Stop
}

// keepIDs takes what one event brought.
func (c *continuation) keepIDs(prompt, ids []byte, spoken bool) {
	t := &c.ids
	if t.prompt == nil {
		t.prompt = bytes.Clone(prompt)
	}
	n := bytes.Count(ids, []byte{','}) + 1
	t.ahead, t.late = append(append(t.ahead, ','), ids...), t.late+n
	if !spoken {
		return
	}
	t.said, t.count = append(t.said, t.ahead...), t.count+t.late
	t.ahead, t.late, t.loose = t.ahead[:0], 0, n > 1
}

// idsSoFar is the prompt with all of the answer so far, as ids; nil where they are not known to be just what the client
// has.
func (c *continuation) idsSoFar() []byte {
	if t := &c.ids; len(t.prompt) > 0 && t.from+t.count == c.base && !t.loose {
		return slices.Concat([]byte{'['}, t.prompt, t.said, []byte{']'})
	}
	return nil
}
