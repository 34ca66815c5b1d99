package messages

import (
	"bytes"
	"strconv"
	"sync"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// The members of a body, by their places in names.
const (
	model = iota
	maxTokens
	messages
	system
	stop
	stream
	temperature
	topP
	topK
	tools
	toolChoice
	thinking
	metadata
	outputConfig
	outputFormat
	contextManagement
	serviceTier
	cached
	thread
	members
)

var names = [members]string{"model", "max_tokens", "messages", "system", "stop_sequences", "stream", "temperature",
	"top_p", "top_k", "tools", "tool_choice", "thinking", "metadata", "output_config", "output_format",
	"context_management", "service_tier", "cache_control", "thread"}

// chat is a chat completion's body while it is written.
type chat struct {
	doors.Draft        // its messages are made of turns
	counts      bool   // the prompt alone matters
	at          int    // the turn that is being written; below 0 is the system prompt
	last        string // the role of the last turn; "" if there is none
	returns     bool   // the last turn, the system's apart, holds what tools returned
	billed      bool   // a block for the client's provider was left out
	lost        bool   // an engine's own door would not have its model see all that the chat completion says
	particular  bool   // an engine's own door may pass over something that the body says
	answer      doors.Turn
	input       []byte // of a call, as a string
	sent        [members]doors.Value
	prompted    bool         // the system prompt is written
	block       doors.Object // of a turn: the last that was read
	inner       doors.Object // of a tool's result: likewise
}

// chats are used again: nothing of one outlives Chat.
var chats = sync.Pool{New: func() any { return new(chat) }}

// Chat implements doors.Door.
func (d Door) Chat(dst, body []byte, depth int) (doors.Chat, error) {
	c := chats.Get().(*chat)
	defer func() { c.reset(); chats.Put(c) }()
	sent, err := c.rewrite(d, dst, body, depth)
	if err != nil {
		return doors.Chat{}, err
	}
	return doors.Chat{Body: append(c.Out, '}'), Sent: sent,
		Answer: &Answer{returns: c.returns, billed: c.billed, lost: c.lost, particular: c.particular}}, nil
}

// reset leaves nothing but room.
func (c *chat) reset() {
	c.Reset()
	c.answer.Reset()
	c.block.Reset()
	c.inner.Reset()
	*c = chat{Draft: c.Draft, answer: c.answer, block: c.block, inner: c.inner,
		input: doors.Room(c.input)}
}

// rewrite writes in dst what a body of d becomes, without its last brace, and returns where the body's members stand.
func (c *chat) rewrite(d Door, dst, body []byte, depth int) (wire.Outline, error) {
	c.counts, c.Out = d.Counts, append(dst, '{')
	sent, err := doors.Body(body, depth, names[:], c.sent[:], c.take)
	if err == nil {
		err = c.write(&c.sent)
	}
	return sent, err
}

// take reads the model's name, messages and tools as they come.
func (c *chat) take(member int, cur *wire.Cursor) error {
	switch member {
	case model:
		return c.Pass("model", cur)
	case messages:
		return c.Messages(func() error { return c.turns(cur) })
	case tools:
		return c.Tools(cur, c.listed)
	}
	return nil
}

// write writes all members of the chat completion that take has not written.
func (c *chat) write(m *[members]doors.Value) error {
	if !m[thread].Absent() {
		return m[thread].Refuse(wire.CodeUnsupportedParameter, "would need a memory that the gateway does not have")
	}
	err := c.prompt(m)
	if err == nil {
		err = c.sampling(m)
	}
	if err == nil {
		err = c.choice(&m[toolChoice])
	}
	if err == nil {
		err = c.thought(m)
	}
	if err == nil {
		err = c.format(m)
	}
	if err == nil {
		err = c.others(m)
	}
	return err
}

// prompt judges the messages as a whole, and puts the system prompt ahead of them if it came behind.
func (c *chat) prompt(m *[members]doors.Value) error {
	if m[messages].Absent() {
		return m[messages].Missing()
	}
	switch c.last {
	case "":
		return m[messages].Invalid("must hold at least one message")
	case "assistant":
		return m[messages].Refuse(wire.CodeUnsupportedParameter, "ends with the beginning of an answer, "+
			"which cannot be translated to a chat completion")
	}
	if c.prompted {
		return nil
	}
	c.at = -1
	return c.Ahead(func() error { return c.system(&m[system]) })
}

// sampling writes how the next token is chosen, and when the answer ends.
func (c *chat) sampling(m *[members]doors.Value) error {
	if err := c.most(&m[maxTokens]); err != nil {
		return err
	}
	if err := c.real(&m[temperature], "temperature", 0, 1); err != nil {
		return err
	}
	if err := c.real(&m[topP], "top_p", 0, 1); err != nil {
		return err
	}
	if !m[topK].Absent() {
		if _, err := m[topK].Whole(0); err != nil {
			return err
		}
		c.Set("top_k", m[topK].Raw())
	}
	if m[stop].Absent() {
		return nil
	}
	err := m[stop].Each(func(s doors.Value) error {
		_, err := s.Text()
		return err
	})
	c.Set("stop", m[stop].Raw())
	return err
}

// most writes how long the answer may be.
func (c *chat) most(most *doors.Value) error {
	if most.Absent() {
		if c.counts {
			return nil
		}
		return most.Missing()
	}
	n, err := most.Whole(1)
	if err == nil {
		c.Member("max_tokens")
		c.Out = strconv.AppendInt(c.Out, int64(n), 10)
	}
	return err
}

func (c *chat) real(v *doors.Value, name string, lo, hi float64) error {
	if v.Absent() {
		return nil
	}
	_, err := v.Real(lo, hi)
	c.Set(name, v.Raw())
	return err
}

// others writes what says how the answer is sent, and by what the conversation is known.
func (c *chat) others(m *[members]doors.Value) error {
	streams, err := m[stream].Flag()
	if err != nil {
		return err
	}
	if streams {
		c.Set("stream", []byte("true"))
		c.Set("stream_options", []byte(`{"include_usage":true}`)) // message_delta tells it
	}
	if !m[metadata].Absent() {
		var in [1]doors.Value
		if err := m[metadata].Members([]string{"user_id"}, in[:]); err != nil {
			return err
		}
		if !in[0].Absent() {
			if _, err := in[0].Text(); err != nil {
				return err
			}
			c.Set("user", in[0].Raw())
			c.Set("prompt_cache_key", in[0].Raw()) // which is a conversation's
		}
	}
	if !m[serviceTier].Absent() { // there is one tier, which is what both come to
		if _, err := m[serviceTier].OneOf("auto", "standard_only"); err != nil {
			return err
		}
	}
	if err := cacheControl(m[cached]); err != nil {
		return err
	}
	return contextEdits(&m[contextManagement])
}

// contextEdits accepts edits of the context that change nothing, as agents send them.
func contextEdits(v *doors.Value) error {
	if v.Absent() {
		return nil
	}
	var in [1]doors.Value
	if err := v.Members([]string{"edits"}, in[:]); err != nil || in[0].Absent() {
		return err
	}
	return in[0].Each(func(edit doors.Value) error {
		var of [2]doors.Value
		if err := edit.Members([]string{"type", "keep"}, of[:]); err != nil {
			return err
		}
		kind, err := of[0].Word()
		if err == nil && (kind != "clear_thinking_20251015" || !bytes.Equal(of[1].Raw(), []byte(`"all"`))) {
			err = edit.Untranslatable()
		}
		return err
	})
}
