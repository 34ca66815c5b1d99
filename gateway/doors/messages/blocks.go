package messages

import (
	"octet/gateway/doors"
)

// The kinds of blocks that chat completions know, by their places in kinds.
const (
	textBlock = iota
	thinkingBlock
	useBlock
	resultBlock
	imageBlock
)

var kinds = []string{"text", "thinking", "tool_use", "tool_result", "image"}

// blockMembers are what a block of each kind may have beside its type. A signature is of a provider that checks it.
var blockMembers = [...][]string{
	textBlock:     {"type", "cache_control", "text", "citations"},
	thinkingBlock: {"type", "cache_control", "thinking", "signature"},
	useBlock:      {"type", "cache_control", "id", "name", "input", "caller"},
	resultBlock:   {"type", "cache_control", "tool_use_id", "is_error", "content"},
	imageBlock:    {"type", "cache_control", "source"},
}

// block is one block of a content, with the members that its kind may have.
type block struct {
	at   doors.Value
	kind int

	text        doors.Value // of a text, or of reasoning
	id          doors.Value // of a call, or of the call whose result it is
	name, input doors.Value // of a call
	failed      doors.Value // of a result
	content     doors.Value // of a result; the source of an image
}

// readBlock reads a block of a kind that chat completions know.
func readBlock(v *doors.Value) (b block, err error) {
	b.at = *v
	if b.kind, err = kindOf(v); err != nil {
		return b, err
	}
	var m [6]doors.Value
	if err := v.Members(blockMembers[b.kind], m[:]); err != nil {
		return b, err
	}
	switch b.kind {
	case textBlock:
		b.text = m[2]
		if m[3].Raw != nil && string(m[3].Raw) != "[]" {
			err = m[3].Untranslatable()
		}
	case thinkingBlock:
		b.text = m[2]
	case useBlock:
		b.id, b.name, b.input = m[2], m[3], m[4]
		err = directCaller(&m[5])
	case resultBlock:
		b.id, b.failed, b.content = m[2], m[3], m[4]
	case imageBlock:
		b.content = m[2]
	}
	if err == nil {
		err = cacheControl(&m[1])
	}
	return b, err
}

// kindOf returns the kind of a block.
func kindOf(v *doors.Value) (int, error) {
	kind, err := v.Type()
	switch i := kind.In(kinds); {
	case err != nil:
		return 0, err
	case kind.Raw == nil:
		return 0, kind.Missing()
	case i < 0:
		return 0, v.Untranslatable()
	default:
		return i, nil
	}
}

// directCaller refuses calls that a program of the provider's has made.
func directCaller(v *doors.Value) error {
	if v.Raw == nil {
		return nil
	}
	kind, err := v.Type()
	switch {
	case err != nil:
		return err
	case kind.Raw == nil:
		return kind.Missing()
	case kind.In([]string{"direct"}) < 0:
		return v.Untranslatable()
	}
	return nil
}

// cacheControl accepts a mark that a prefix is to be cached, which it is without.
func cacheControl(v *doors.Value) error {
	if v.Raw == nil {
		return nil
	}
	var m [3]doors.Value
	if err := v.Members([]string{"type", "ttl", "scope"}, m[:]); err != nil {
		return err
	}
	_, err := m[0].OneOf("ephemeral")
	return err
}

// part writes a block of text or an image as a part of a content.
func (c *chat) part(b *block) error {
	c.Out = doors.AppendComma(c.Out, '[')
	if b.kind == imageBlock {
		return c.image(b)
	}
	_, err := b.text.Needed()
	c.Out = doors.AppendText(c.Out, b.text.Raw)
	return err
}

// image writes an image: its address, or its bytes as an address.
func (c *chat) image(b *block) error {
	if b.content.Raw == nil {
		return b.content.Missing()
	}
	var m [4]doors.Value
	if err := b.content.Members([]string{"type", "media_type", "data", "url"}, m[:]); err != nil {
		return err
	}
	kind, err := m[0].OneOf("base64", "url")
	if err != nil {
		return err
	}
	if kind == "url" {
		url, err := m[3].Needed()
		c.Out = append(append(append(c.Out, `{"type":"image_url","image_url":{"url":"`...), url...), `"}}`...)
		return err
	}
	media, err := m[1].Needed()
	if err != nil {
		return err
	}
	data, err := m[2].Needed()
	c.Out = append(append(c.Out, `{"type":"image_url","image_url":{"url":"data:`...), media...)
	c.Out = append(append(append(c.Out, ";base64,"...), data...), `"}}`...)
	return err
}

// result writes a tool's result as a message of its own. A failed one says so in front, as there is no member for it.
func (c *chat) result(b *block) error {
	failed, err := b.failed.Flag()
	if err != nil {
		return err
	}
	id, err := b.id.Needed()
	if err != nil {
		return err
	}
	c.lost = c.lost || failed
	c.Open("tool", c.at)
	c.Member("tool_call_id")
	c.Out = doors.AppendRaw(c.Out, id)
	c.Member("content")
	if b.content.Kind() == '[' {
		if err := c.resultParts(&b.content, failed); err != nil {
			return err
		}
	} else {
		var text []byte
		if b.content.Raw != nil {
			if text, err = b.content.Text(); err != nil {
				return err
			}
		}
		c.Out = append(c.Out, '"')
		if failed {
			c.Out = append(c.Out, failure...)
		}
		c.Out = append(append(c.Out, text...), '"')
	}
	c.Out = append(c.Out, '}')
	return nil
}

// failure is what the result of a failed tool begins with.
const failure = "Error: "

func (c *chat) resultParts(content *doors.Value, failed bool) error {
	c.Out = append(c.Out, '[')
	if failed {
		c.Out = append(c.Out, `{"type":"text","text":"`+failure+`"}`...)
	}
	some := failed
	err := content.Each(func(v doors.Value) error {
		some = true
		b, err := readBlock(&v)
		if err == nil && b.kind != textBlock && b.kind != imageBlock {
			err = v.Untranslatable()
		}
		if err != nil {
			return err
		}
		c.lost = c.lost || b.kind == imageBlock
		return c.part(&b)
	})
	if !some { // a chat completion's content has a part at least
		c.Out = append(c.Out, `{"type":"text","text":""}`...)
	}
	c.Out = append(c.Out, ']')
	return err
}
