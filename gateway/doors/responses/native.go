package responses

import (
	"bytes"
	"fmt"
	"strings"

	"octet/gateway/doors"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// native reads the answer of an engine that serves the door itself. It keeps what the last event says again.
type native struct {
	answer *Answer

	kind  doors.Kind // of the item that is open; None is also one that translations do not have
	open  bool
	index int // its place, or the next one's
	calls int // begun so far

	id, model    []byte
	created      int
	sequence     int    // of the next event
	itemID       []byte // of the item that is open
	callID, name []byte
	said         []byte // of the item that is open
	items        []byte // that are done
}

// Native returns what reads the answer where its engine speaks Responses.
func (a *Answer) Native() doors.Native { return &native{answer: a} }

// Particular returns true if the request says what some engines' own doors pass over: see engine.Served.
func (a *Answer) Particular() bool { return a.particular }

// nativeKinds are the types of items.
var nativeKinds = map[string]doors.Kind{"message": doors.Text, "reasoning": doors.Thought, "function_call": doors.Use}

// Read implements sse.Dialect.
func (n *native) Read(data []byte, said *sse.Said) bool {
	var e nativeEvent
	if !e.read(data) {
		return false
	}
	if e.told {
		said.Usage, said.Told = e.usage, true
	}
	switch string(e.of) {
	case "response.created":
		n.id, n.model, n.created = bytes.Clone(e.id), bytes.Clone(e.model), e.created
	case "response.output_item.added":
		n.begins(&e, said)
	case "response.output_item.done":
		if len(n.items) > 0 {
			n.items = append(n.items, ',')
		}
		n.items = append(n.items, e.item.raw...)
		n.ends(&e, said)
	case "response.completed", "response.incomplete":
		said.Last, said.Finish = true, e.finish()
	case "response.failed":
		said.Failed = e.broke()
	case "error":
		if said.Failed = e.failed; e.failed == nil {
			said.Failed = &sse.EngineError{Type: "error", Code: string(wire.AppendUnquoted(nil, e.code)),
				Message: string(wire.AppendUnquoted(nil, e.words))}
		}
	default:
		n.says(&e, said)
	}
	if len(e.delta) == 0 && said.Failed == nil { // others may not go out
		n.sequence = e.number + 1
	}
	return true
}

// broke returns why a response has failed.
func (e *nativeEvent) broke() *sse.EngineError {
	if e.failed != nil {
		return e.failed
	}
	return &sse.EngineError{Message: "the response has failed"}
}

// begins notes an item that begins. A call is output from its beginning on.
func (n *native) begins(e *nativeEvent, said *sse.Said) {
	n.index, n.open, n.kind, n.said = e.index, true, nativeKinds[string(e.item.of)], n.said[:0]
	n.itemID = append(n.itemID[:0], e.item.id...)
	if n.kind == doors.Use {
		n.callID, n.name = append(n.callID[:0], e.item.callID...), append(n.name[:0], e.item.name...)
		n.calls++
		said.Output, said.Called = true, true
		said.Call = sse.Call{Index: e.index, ID: e.item.callID, Name: e.item.name}
	}
}

// ends notes an item that is whole. Arguments of which no piece came are in it.
func (n *native) ends(e *nativeEvent, said *sse.Said) {
	if n.kind == doors.Use && len(n.said) == 0 {
		said.Called, said.Call = true, sse.Call{Index: e.index, Arguments: e.item.arguments}
	}
	n.open, n.index = false, e.index+1
}

// says notes a piece of the item that is open.
func (n *native) says(e *nativeEvent, said *sse.Said) {
	if len(e.delta) == 0 {
		return
	}
	said.Output, said.Piece, said.Number, said.N = true, e.at, e.no, e.number
	switch of := string(e.of); {
	case of == "response.output_text.delta":
		said.Text = e.delta
	case of == "response.function_call_arguments.delta":
		said.Called, said.Call = true, sse.Call{Index: e.index, Arguments: e.delta}
	case strings.HasPrefix(of, "response.reasoning"):
		said.Reasoning = true
	}
}

// Given implements sse.Dialect.
func (n *native) Given(piece []byte, number int) {
	n.said, n.sequence = append(n.said, piece...), max(n.sequence, number+1)
}

// finish is why the response has ended, as chat completions have it.
func (e *nativeEvent) finish() string {
	switch {
	case string(e.reason) == "max_output_tokens":
		return "length"
	case len(e.reason) > 0:
		return string(wire.AppendUnquoted(nil, e.reason))
	case len(e.calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// ReadWhole implements doors.Native.
func (*native) ReadWhole(body []byte) (sse.Unary, error) {
	c, ok := doors.NewReader(body)
	if !ok {
		return sse.Unary{}, sse.ErrGarbage
	}
	var e nativeEvent
	e.response(&c)
	switch {
	case !c.End():
		return sse.Unary{}, sse.ErrGarbage
	case e.failed != nil, string(e.status) == "failed":
		return sse.Unary{}, e.broke()
	case string(e.status) != "completed" && string(e.status) != "incomplete":
		return sse.Unary{}, fmt.Errorf("%w: not a response that is over", sse.ErrGarbage)
	}
	return sse.Unary{Usage: e.usage, Finish: e.finish(), Text: e.text, Calls: e.calls}, nil
}

// Adopt implements doors.Native.
func (n *native) Adopt() {
	a, kind := n.answer, doors.None
	if n.open {
		kind = n.kind
	}
	a.blocks.Adopt(kind, n.index, n.calls)
	a.given, a.givenItem = append(a.given[:0], n.id...), append(a.givenItem[:0], n.itemID...)
	a.id, a.model, a.created, a.sequence = a.given, n.model, n.created, n.sequence
	a.callID, a.name, a.said, a.items = n.callID, n.name, n.said, n.items
	a.frame()
}
