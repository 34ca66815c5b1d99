package sse

import "octet/gateway/wire"

// Call is a tool call, or a piece of one. What is bytes aliases what was read.
type Call struct {
	Index    int    // which call of the answer it is of; where it is not told, its place in the list
	ID, Name []byte // the insides of strings; empty if absent
	// the inside of a string; of an engine that writes them as JSON instead, the value as it stands
	Arguments []byte
	Value     bool // Arguments are such a value
	Free      bool // they are a text of the tool's own grammar: a custom tool's input
}

// toolCalls reads the tool_calls or the function_call of a message or a delta.
func toolCalls(raw []byte, f func(Call)) {
	r := callReader{wire.NewCursor(raw, maxDepth), raw}
	if r.Peek() == '{' {
		var call Call
		r.function(&call)
		f(call)
		return
	}
	n := 0
	for r.Enter('['); r.More(); n++ {
		call := Call{Index: n}
		r.element(&call)
		f(call)
	}
}

// callReader reads tool calls.
type callReader struct {
	wire.Cursor
	raw []byte
}

// element reads one of tool_calls.
func (r *callReader) element(k *Call) {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	r.Enter('{')
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		switch string(name) {
		case "index":
			if n, ok := r.Int(); ok {
				k.Index = n
			}
		case "id":
			k.ID = quoted(&r.Cursor)
		case "function":
			r.function(k)
		case "custom":
			k.Free = true
			r.function(k)
		default:
			r.Skip()
		}
	}
}

// function reads what is called, and with what.
func (r *callReader) function(k *Call) {
	if r.Peek() != '{' {
		r.Skip()
		return
	}
	r.Enter('{')
	for name, ok := r.Key(); ok; name, ok = r.Key() {
		switch string(name) {
		case "name":
			k.Name = quoted(&r.Cursor)
		case "arguments", "input":
			r.arguments(k)
		default:
			r.Skip()
		}
	}
}

func (r *callReader) arguments(k *Call) {
	switch r.Peek() {
	case '"':
		k.Arguments, k.Value = r.Quoted(), false
	case 'n':
		r.Skip()
	default:
		from := r.Offset()
		r.Skip()
		k.Arguments, k.Value = r.raw[from:r.Offset()], true
	}
}

// Calls calls f with each tool call of choice 0 of an answer that was not streamed.
func Calls(body []byte, f func(Call)) {
	var k chunk
	if k.read(body) && k.calls.to > 0 {
		toolCalls(body[k.calls.from:k.calls.to], f)
	}
}
