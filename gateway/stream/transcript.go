package stream

import (
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// Transcript is the text that a client got and the tools that it was to call, kept once for all that look at it
// afterwards: the verifier, and the comparison with a second opinion. The zero Transcript keeps nothing.
type Transcript struct {
	raw   []byte // the inside of a JSON string
	calls toolCalls
	most  int64  // bytes of raw and calls that are of use; 0 keeps nothing
	over  bool   // they were longer
	plain []byte // raw unescaped, once it was asked for
}

// Keep begins to keep texts and calls of up to most bytes together, or longer ones if they were asked for before.
func (t *Transcript) Keep(most int64) { t.most = max(t.most, most) }

// Begin makes a scanner keep the text and the tool calls of an engine's answer, beside what o wants. An answer of which
// the client has seen nothing so far begins anew. Calls always do: what goes on at another engine has no call that the
// client has seen.
func (t *Transcript) Begin(o *sse.Options, seen bool) {
	if t.most == 0 {
		return
	}
	if !seen {
		t.raw, t.over = t.raw[:0], false
	}
	other := o.Text
	o.Text = func(raw []byte) {
		t.add(raw)
		if other != nil {
			other(raw)
		}
	}
	t.calls = toolCalls{}
	o.Calls = t.call
}

func (t *Transcript) add(raw []byte) {
	if t.over = t.over || t.size()+int64(len(raw)) > t.most; !t.over {
		t.raw = append(t.raw, raw...)
	}
}

// call takes on a piece of a tool call.
func (t *Transcript) call(p sse.Call) {
	if t.over = t.over || t.size()+int64(len(p.ID)+len(p.Name)+len(p.Arguments)) > t.most; !t.over {
		t.over = !t.calls.add(&p) || t.size() > t.most
	}
	if t.over {
		t.calls = toolCalls{}
	}
}

func (t *Transcript) size() int64 { return int64(len(t.raw)) + t.calls.size }

// Whole keeps an answer that came in one piece, as body.
func (t *Transcript) Whole(body []byte, answer *sse.Unary) {
	if t.most == 0 {
		return
	}
	t.raw, t.calls, t.over = t.raw[:0], toolCalls{}, false
	t.add(answer.Text)
	for _, call := range answer.Calls {
		t.call(call)
	}
	sse.Calls(body, t.call)
}

// Over reports whether text and calls were longer than what is kept.
func (t *Transcript) Over() bool { return t.over }

// Calls returns the tool calls that are kept; nil if there are none.
func (t *Transcript) Calls() []ToolCall { return t.calls.whole() }

// CallsTools reports whether the answer has tool calls, as far as it is kept.
func (t *Transcript) CallsTools() bool { return len(t.calls.all) > 0 }

// Within returns the text if it and the calls are no longer than most bytes as they came. It must not be changed.
func (t *Transcript) Within(most int64) (text []byte, ok bool) {
	if t.most == 0 || t.over || t.size() > most {
		return nil, false
	}
	if t.plain == nil {
		t.plain = wire.AppendUnquoted(nil, t.raw)
	}
	return t.plain, true
}
