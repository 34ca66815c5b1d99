package messages

import (
	"octet/gateway/doors"
)

// block is one block of a content, with the members that its kind may have.
type block struct {
	at   doors.Value
	kind string
	// of text; of thinking; of tool_use; of tool_result; of an image
	text, thinking, id, name, input, result, failed, content, source doors.Value
}

// blockMembers are what a block of each kind may have beside its type. A signature is of a provider that checks it.
var blockMembers = map[string][]string{
	"text":        {"type", "cache_control", "text", "citations"},
	"thinking":    {"type", "cache_control", "thinking", "signature"},
	"tool_use":    {"type", "cache_control", "id", "name", "input", "caller"},
	"tool_result": {"type", "cache_control", "tool_use_id", "is_error", "content"},
	"image":       {"type", "cache_control", "source"},
}

// readBlock reads a block of a kind that chat completions know.
func readBlock(v *doors.Value) (b block, err error) {
	b.at = *v
	if b.kind, err = kindOf(v); err != nil {
		return b, err
	}
	known := blockMembers[b.kind]
	if known == nil {
		return b, v.Untranslatable()
	}
	var m [6]doors.Value
	if err := v.Members(known, m[:]); err != nil {
		return b, err
	}
	switch b.kind {
	case "text":
		b.text = m[2]
		if m[3].Raw != nil && string(m[3].Raw) != "[]" {
			err = m[3].Untranslatable()
		}
	case "thinking":
		b.thinking = m[2]
	case "tool_use":
		b.id, b.name, b.input = m[2], m[3], m[4]
		err = directCaller(&m[5])
	case "tool_result":
		b.result, b.failed, b.content = m[2], m[3], m[4]
	case "image":
		b.source = m[2]
	}
	if err == nil {
		err = cacheControl(&m[1])
	}
	return b, err
}

// kindOf returns the type of an object that must have one.
func kindOf(v *doors.Value) (string, error) {
	kind, err := v.Type()
	if err == nil && kind == "" {
		err = v.Missing("type")
	}
	return kind, err
}

// directCaller refuses calls that a program of the provider's has made.
func directCaller(v *doors.Value) error {
	if v.Raw == nil {
		return nil
	}
	kind, err := kindOf(v)
	if err == nil && kind != "direct" {
		err = v.Untranslatable()
	}
	return err
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

// text writes the text of a block.
func (c *chat) text(b block) error {
	if b.text.Raw == nil {
		return b.at.Missing("text")
	}
	_, err := b.text.Text()
	c.out = append(c.out, b.text.Raw...)
	return err
}

// part writes a block of text or an image as a part of a content.
func (c *chat) part(b block) (err error) {
	c.out = doors.AppendComma(c.out, '[')
	if b.kind == "image" {
		return c.image(b)
	}
	c.out = append(c.out, `{"type":"text","text":`...)
	err = c.text(b)
	c.out = append(c.out, '}')
	return err
}

// image writes an image: its address, or its bytes as an address.
func (c *chat) image(b block) error {
	if b.source.Raw == nil {
		return b.at.Missing("source")
	}
	var m [4]doors.Value
	if err := b.source.Members([]string{"type", "media_type", "data", "url"}, m[:]); err != nil {
		return err
	}
	kind, err := m[0].OneOf("base64", "url")
	if err != nil {
		return err
	}
	if kind == "url" {
		url, err := needed(&b.source, &m[3], "url")
		c.out = append(append(append(c.out, `{"type":"image_url","image_url":{"url":"`...), url...), `"}}`...)
		return err
	}
	media, err := needed(&b.source, &m[1], "media_type")
	if err != nil {
		return err
	}
	data, err := needed(&b.source, &m[2], "data")
	c.out = append(append(c.out, `{"type":"image_url","image_url":{"url":"data:`...), media...)
	c.out = append(append(append(c.out, ";base64,"...), data...), `"}}`...)
	return err
}

// needed returns what stands between the quotes of a member that must be there.
func needed(in, v *doors.Value, name string) ([]byte, error) {
	if v.Raw == nil {
		return nil, in.Missing(name)
	}
	return v.Text()
}

// result writes a tool's result as a message of its own. A failed one says so in front, as there is no member for it.
func (c *chat) result(b block) error {
	failed, err := b.failed.Flag()
	if err != nil {
		return err
	}
	id, err := needed(&b.at, &b.result, "tool_use_id")
	if err != nil {
		return err
	}
	c.open("tool")
	c.set("tool_call_id", doors.AppendRaw(nil, id))
	c.member("content")
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
		c.out = append(c.out, '"')
		if failed {
			c.out = append(c.out, failure...)
		}
		c.out = append(append(c.out, text...), '"')
	}
	c.out = append(c.out, '}')
	return nil
}

// failure is what the result of a failed tool begins with.
const failure = "Error: "

func (c *chat) resultParts(content *doors.Value, failed bool) error {
	c.out = append(c.out, '[')
	if failed {
		c.out = append(c.out, `{"type":"text","text":"`+failure+`"}`...)
	}
	some := failed
	err := content.Each(func(v *doors.Value) error {
		some = true
		b, err := readBlock(v)
		if err == nil && b.kind != "text" && b.kind != "image" {
			err = v.Untranslatable()
		}
		if err != nil {
			return err
		}
		return c.part(b)
	})
	if !some { // a chat completion's content has a part at least
		c.out = append(c.out, `{"type":"text","text":""}`...)
	}
	c.out = append(c.out, ']')
	return err
}
