package responses

import (
	"sync"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// The members of a body, by their places in names.
const (
	model = iota
	input
	instructions
	maxOutput
	temperature
	topP
	stream
	streamOptions
	store
	background
	tools
	toolChoice
	parallel
	reasoning
	text
	include
	metadata
	user
	cacheKey
	safety
	tier
	truncation
	retention
	clientMetadata
	members
)

var names = [members]string{"model", "input", "instructions", "max_output_tokens", "temperature", "top_p", "stream",
	"stream_options", "store", "background", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text",
	"include", "metadata", "user", "prompt_cache_key", "safety_identifier", "service_tier", "truncation",
	"prompt_cache_retention", "client_metadata"}

// passed are the members that a chat completion has by the same name, or by another.
var passed = [...]struct {
	member int
	as     string
}{
	{temperature, "temperature"}, {topP, "top_p"}, {maxOutput, "max_tokens"}, {parallel, "parallel_tool_calls"},
	{metadata, "metadata"}, {user, "user"}, {cacheKey, "prompt_cache_key"}, {safety, "safety_identifier"},
	{tier, "service_tier"}, {retention, "prompt_cache_retention"},
}

// chat is a chat completion's body while it is written.
type chat struct {
	doors.Draft     // its messages are made of items
	at          int // the item that is being written; below 0 is the instructions
	turn        doors.Turn
	one         doors.Object // the last item that was read
	part        doors.Object // of a content, or of a namespace: likewise
	listing     doors.Object // of the list of tools: likewise
	parts       []byte       // of an answer
	sent        [members]doors.Value
	instructed  bool // the instructions are written
	particular  bool // an engine's own door may pass over something that the body says

	functions spaces   // nil without namespaces
	plain     [][]byte // names of functions of no namespace; parts of the body
}

// chats are used again: nothing of one outlives Chat.
var chats = sync.Pool{New: func() any { return new(chat) }}

// Chat implements doors.Door.
func (Door) Chat(dst, body []byte, depth int) (doors.Chat, error) {
	c := chats.Get().(*chat)
	defer func() { c.reset(); chats.Put(c) }()
	sent, err := c.rewrite(dst, body, depth)
	if err != nil {
		return doors.Chat{}, err
	}
	return doors.Chat{Body: append(c.Out, '}'), Sent: sent,
		Answer: &Answer{echo: echoOf(&c.sent), functions: c.functions, particular: c.particular}}, nil
}

// reset leaves nothing but room.
func (c *chat) reset() {
	c.Reset()
	c.turn.Reset()
	c.one.Reset()
	c.part.Reset()
	c.listing.Reset()
	clear(c.plain)
	*c = chat{Draft: c.Draft, turn: c.turn, one: c.one, part: c.part, listing: c.listing,
		parts: doors.Room(c.parts), plain: c.plain[:0]}
}

// rewrite writes in dst what a body becomes, without its last brace, and returns where the body's members stand.
func (c *chat) rewrite(dst, body []byte, depth int) (wire.Outline, error) {
	c.Out = append(dst, '{')
	sent, err := doors.Body(body, depth, names[:], c.sent[:], c.take)
	if err == nil {
		err = c.write(&c.sent)
	}
	return sent, err
}

// take reads the model's name, a list of items and tools as they come.
func (c *chat) take(member int, cur *wire.Cursor) error {
	switch {
	case member == model:
		return c.Pass("model", cur)
	case member == input && cur.Peek() == '[':
		return c.Messages(func() error { return c.items(cur) })
	case member == tools:
		return c.Tools(cur, c.listed)
	}
	return nil
}

// write writes all members of the chat completion.
func (c *chat) write(m *[members]doors.Value) error {
	err := stateless(m)
	if err == nil {
		err = c.prompt(m)
	}
	if err == nil {
		err = c.params(m)
	}
	if err == nil {
		err = c.distinct(&m[tools])
	}
	if err == nil {
		err = c.choice(&m[toolChoice])
	}
	if err == nil {
		err = c.reasons(m)
	}
	if err == nil {
		err = c.format(m)
	}
	return err
}

// stateless refuses what would need a memory of earlier responses, or an answer that is not awaited.
func stateless(m *[members]doors.Value) error {
	for _, i := range [...]int{store, background} {
		on, err := m[i].Flag()
		if err == nil && on {
			err = m[i].Refuse(wire.CodeUnsupportedParameter, "would need a memory that the gateway does not have")
		}
		if err != nil {
			return err
		}
	}
	if !m[include].Absent() {
		if err := m[include].Each(func(what doors.Value) error {
			if word, err := what.Word(); err != nil || word != "reasoning.encrypted_content" { // it comes in clear
				return what.Untranslatable()
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if word, err := m[truncation].Word(); err != nil || word != "" && word != "disabled" {
		return m[truncation].Untranslatable()
	}
	return nil
}

// params writes what a chat completion has a member for, and has it stream as the client asks.
func (c *chat) params(m *[members]doors.Value) error {
	if !m[maxOutput].Absent() {
		if _, err := m[maxOutput].Whole(1); err != nil {
			return err
		}
	}
	for _, p := range passed { // their forms are judged as a chat completion's
		if !m[p.member].Absent() {
			c.Set(p.as, m[p.member].Raw())
		}
	}
	if !m[streamOptions].Absent() {
		var in [1]doors.Value
		if err := m[streamOptions].Members([]string{"include_obfuscation"}, in[:]); err != nil {
			return err
		}
		if on, err := in[0].Flag(); err != nil || on {
			return in[0].Untranslatable()
		}
	}
	if about := &m[clientMetadata]; !about.Absent() && about.Kind() != '{' { // a client says there what it is
		return about.Invalid("must be an object")
	}
	streams, err := m[stream].Flag()
	if streams {
		c.Set("stream", []byte("true"))
		c.Set("stream_options", []byte(`{"include_usage":true}`)) // response.completed tells it
	}
	return err
}

// reasons writes how much the model is to reason.
func (c *chat) reasons(m *[members]doors.Value) error {
	if m[reasoning].Absent() {
		return nil
	}
	var in [3]doors.Value
	if err := m[reasoning].Members([]string{"effort", "summary", "generate_summary"}, in[:]); err != nil {
		return err
	}
	for i := 1; i < len(in); i++ { // auto is the best that there is: the reasoning itself
		if word, err := in[i].Word(); err != nil || word != "" && word != "auto" {
			return in[i].Untranslatable()
		}
	}
	if in[0].Absent() {
		return nil
	}
	_, err := in[0].Text()
	c.Set("reasoning_effort", in[0].Raw())
	return err
}

// format writes what an answer must look like.
func (c *chat) format(m *[members]doors.Value) error {
	if m[text].Absent() {
		return nil
	}
	var in [2]doors.Value
	if err := m[text].Members([]string{"format", "verbosity"}, in[:]); err != nil {
		return err
	}
	if !in[1].Absent() {
		if _, err := in[1].Text(); err != nil {
			return err
		}
		c.Set("verbosity", in[1].Raw())
	}
	if in[0].Absent() {
		return nil
	}
	fields := []string{"type", "name", "description", "schema", "strict"}
	var of [5]doors.Value
	if err := in[0].Members(fields, of[:]); err != nil {
		return err
	}
	kind, err := of[0].OneOf("text", "json_object", "json_schema")
	if err != nil || kind == "text" {
		return err
	}
	c.particular = kind == "json_object"
	c.Member("response_format")
	c.Out = append(append(c.Out, `{"type":`...), of[0].Raw()...)
	if kind == "json_schema" {
		c.Out = append(c.Out, `,"json_schema":{`...)
		for i := 1; i < len(of); i++ {
			if !of[i].Absent() {
				c.Set(fields[i], of[i].Raw())
			}
		}
		c.Out = append(c.Out, '}')
	}
	c.Out = append(c.Out, '}')
	return nil
}
