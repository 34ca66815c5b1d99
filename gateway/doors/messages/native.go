package messages

import (
	"bytes"
	"fmt"

	"octet/gateway/doors"
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// native reads the answer of an engine that serves the door itself.
type native struct {
	answer *Answer
	kind   doors.Kind // of the block that is open; None is also one that translations do not have
	open   bool
	index  int // its place, or the next one's
	calls  int // begun so far
	id     []byte
	usage  sse.Usage
}

// Native returns what reads the answer where its engine speaks Messages; nil for a request that it would not have its
// model see as the chat completion says it: vLLM's door passes over failures of tools and images in what they return.
func (a *Answer) Native() doors.Native {
	if a.lost {
		return nil
	}
	return &native{answer: a}
}

// Billed returns true if a block for the client's provider, which is in no prompt of ours, is in the request.
func (a *Answer) Billed() bool { return a.billed }

// Particular returns true if the request says what some engines' own doors pass over: see engine.Served.
func (a *Answer) Particular() bool { return a.particular }

// nativeKinds are the types of blocks.
var nativeKinds = map[string]doors.Kind{"text": doors.Text, "thinking": doors.Thought, "tool_use": doors.Use}

// Read implements sse.Dialect.
func (n *native) Read(data []byte, said *sse.Said) bool {
	var e nativeEvent
	if !e.read(data) {
		return false
	}
	switch string(e.of) {
	case "message_start":
		n.id = bytes.Clone(e.id)
	case "content_block_start":
		n.begins(&e, said)
	case "content_block_delta":
		says(&e, said)
	case "content_block_stop":
		n.open, n.index = false, e.index+1
	case "message_delta":
		if said.Finish = finishOf(e.stop); e.endless { // what vLLM has given up
			said.Failed = sse.Aborted()
		}
	case "message_stop":
		said.Last = true
	case "error":
		if said.Failed = e.failed; said.Failed == nil {
			said.Failed = &sse.EngineError{}
		}
	}
	n.took(&e, said)
	return true
}

// begins notes a block that begins. A call is output from its beginning on.
func (n *native) begins(e *nativeEvent, said *sse.Said) {
	n.index, n.open, n.kind = e.index, true, nativeKinds[string(e.inside)]
	if n.kind == doors.Use {
		n.calls++
		said.Output, said.Called, said.Call = true, true, e.calls[0]
		said.Call.Index = e.index
		return
	}
	said.Output, said.Text = len(e.text) > 0, e.text
}

// says notes a piece of the block that is open.
func says(e *nativeEvent, said *sse.Said) {
	if len(e.piece) == 0 {
		return
	}
	said.Output, said.Piece = true, e.at
	switch string(e.inside) {
	case "text_delta":
		said.Text = e.piece
	case "thinking_delta":
		said.Reasoning = true
	case "input_json_delta":
		said.Called, said.Call = true, sse.Call{Index: e.index, Arguments: e.piece}
	}
}

// took notes a usage. What an event does not say stays as it was.
func (n *native) took(e *nativeEvent, said *sse.Said) {
	if !e.told {
		return
	}
	n.usage.PromptTokens = max(n.usage.PromptTokens, e.usage.PromptTokens)
	n.usage.CompletionTokens = max(n.usage.CompletionTokens, e.usage.CompletionTokens)
	if e.usage.CachedKnown {
		n.usage.CachedTokens, n.usage.CachedKnown = e.usage.CachedTokens, true
	}
	said.Usage, said.Told = n.usage, true
}

// Given implements sse.Dialect: nothing of a delta is kept.
func (*native) Given([]byte, int) {}

// ReadWhole implements doors.Native.
func (*native) ReadWhole(body []byte) (sse.Unary, error) {
	var e nativeEvent
	switch {
	case !e.read(body):
		return sse.Unary{}, sse.ErrGarbage
	case e.failed != nil:
		return sse.Unary{}, e.failed
	case string(e.of) != "message":
		return sse.Unary{}, fmt.Errorf("%w: not a message", sse.ErrGarbage)
	case len(e.stop) == 0: // likewise
		return sse.Unary{}, sse.Aborted()
	}
	return sse.Unary{Usage: e.usage, Finish: finishOf(e.stop), Text: e.text, Calls: e.calls}, nil
}

// Adopt implements doors.Native.
func (n *native) Adopt() {
	kind := doors.None
	if n.open {
		kind = n.kind
	}
	n.answer.id = append(n.answer.id[:0], n.id...)
	n.answer.blocks.Adopt(kind, n.index, n.calls)
	n.answer.frame()
}

// finishes are the reasons for which an answer ends, as chat completions have them.
var finishes = map[string]string{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length",
	"tool_use": "tool_calls", "refusal": "content_filter"}

func finishOf(stop []byte) string {
	if known, ok := finishes[string(stop)]; ok {
		return known
	}
	return string(wire.AppendUnquoted(nil, stop))
}
