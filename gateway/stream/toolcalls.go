package stream

import (
	"bytes"

	"octet/gateway/sse"
	"octet/gateway/wire"
)

// ToolCall is a tool call of an answer, whole.
type ToolCall struct {
	Name      string
	Arguments []byte
	Free      bool // they are a text of the tool's own grammar, not JSON
}

const (
	mostCalls = 1024 // of one answer
	callCost  = 64   // bytes that a call counts for beside its name and arguments
)

// toolCalls gathers tool calls from their pieces. The zero value has none.
type toolCalls struct {
	all  []gathered
	size int64 // bytes that they count for
}

// gathered is a call so far. Its strings are the insides of JSON strings.
type gathered struct {
	index    int
	id, name []byte
	said     []byte // the arguments
	value    bool   // said is JSON as it stands
	free     bool
}

// add takes on a piece. It returns false if there are too many calls.
func (t *toolCalls) add(p *sse.Call) bool {
	g := t.of(p)
	if g == nil {
		if len(t.all) == mostCalls {
			return false
		}
		t.all = append(t.all, gathered{index: p.Index})
		g = &t.all[len(t.all)-1]
		t.size += callCost
	}
	if len(g.id) == 0 {
		g.id = bytes.Clone(p.ID)
		t.size += int64(len(p.ID))
	}
	if !bytes.Equal(g.name, p.Name) { // engines that repeat the name repeat all of it
		g.name = append(g.name, p.Name...)
		t.size += int64(len(p.Name))
	}
	g.said = append(g.said, p.Arguments...)
	t.size += int64(len(p.Arguments))
	g.value, g.free = g.value || p.Value, g.free || p.Free
	return true
}

// of returns the call that a piece is of; nil if it begins one. A piece at the index of a call begins another one where
// it has another id, or another name behind arguments: there are engines that give all calls one index.
func (t *toolCalls) of(p *sse.Call) *gathered {
	for i := len(t.all) - 1; i >= 0; i-- {
		g := &t.all[i]
		if g.index != p.Index {
			continue
		}
		other := len(p.ID) > 0 && len(g.id) > 0 && !bytes.Equal(p.ID, g.id)
		if other || len(p.Name) > 0 && len(g.said) > 0 && !bytes.Equal(p.Name, g.name) {
			return nil
		}
		return g
	}
	return nil
}

// whole returns the calls; nil if there are none.
func (t *toolCalls) whole() (calls []ToolCall) {
	for i := range t.all {
		g := &t.all[i]
		c := ToolCall{Name: string(wire.AppendUnquoted(nil, g.name)), Arguments: bytes.Clone(g.said), Free: g.free}
		if !g.value {
			c.Arguments = wire.AppendUnquoted(nil, g.said)
		}
		calls = append(calls, c)
	}
	return calls
}
