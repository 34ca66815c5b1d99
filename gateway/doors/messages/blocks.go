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

// The members of blocks, by their places in blockNames.
const (
	ofType = iota
	ofText
	ofID
	ofName
	ofInput
	ofResultID
	ofContent
	ofFailed
	ofCache
	ofThought
	ofSignature
	ofCitations
	ofCaller
	ofSource
)

var blockNames = []string{"type", "text", "id", "name", "input", "tool_use_id", "content", "is_error",
	"cache_control", "thinking", "signature", "citations", "caller", "source"}

// blockMembers are what a block of each kind may have. A signature is of a provider that checks it.
var blockMembers = [...]doors.Names{
	textBlock:     doors.Of(ofType, ofCache, ofText, ofCitations),
	thinkingBlock: doors.Of(ofType, ofCache, ofThought, ofSignature),
	useBlock:      doors.Of(ofType, ofCache, ofID, ofName, ofInput, ofCaller),
	resultBlock:   doors.Of(ofType, ofCache, ofResultID, ofFailed, ofContent),
	imageBlock:    doors.Of(ofType, ofCache, ofSource),
}

var (
	cacheMembers  = []string{"type", "ttl", "scope"}
	sourceMembers = []string{"type", "media_type", "data", "url"} // of an image
)

// kindOf returns the kind of a block that chat completions know, which has what blocks of that kind may have.
func kindOf(b *doors.Object) (kind int, err error) {
	of := b.Type(ofType)
	switch kind = of.In(kinds); {
	case of.Absent():
		return kind, of.Missing()
	case kind < 0:
		return kind, b.Untranslatable()
	}
	if err := b.Only(blockMembers[kind]); err != nil {
		return kind, err
	}
	switch kind {
	case textBlock:
		if v := b.Member(ofCitations); !v.Absent() && string(v.Raw()) != "[]" {
			return kind, v.Untranslatable()
		}
	case useBlock:
		if err := directCaller(b.Member(ofCaller)); err != nil {
			return kind, err
		}
	}
	return kind, cacheControl(b.Member(ofCache))
}

// directCaller refuses calls that a program of the provider's has made.
func directCaller(v doors.Value) error {
	if v.Absent() {
		return nil
	}
	kind, err := v.Type()
	switch {
	case err != nil:
		return err
	case kind.Absent():
		return kind.Missing()
	case kind.In([]string{"direct"}) < 0:
		return v.Untranslatable()
	}
	return nil
}

// cacheControl accepts a mark that a prefix is to be cached, which it is without.
func cacheControl(v doors.Value) error {
	if v.Absent() {
		return nil
	}
	var m [3]doors.Value
	if err := v.Members(cacheMembers, m[:]); err != nil {
		return err
	}
	_, err := m[0].OneOf("ephemeral")
	return err
}

// part writes a block of text or an image as a part of a content.
func (c *chat) part(b *doors.Object, kind int) error {
	c.Out = doors.AppendComma(c.Out, '[')
	if kind == imageBlock {
		return c.image(b.Member(ofSource))
	}
	text := b.Member(ofText)
	_, err := text.Needed()
	c.Out = doors.AppendText(c.Out, text.Raw())
	return err
}

// image writes an image: its address, or its bytes as an address.
func (c *chat) image(source doors.Value) error {
	if source.Absent() {
		return source.Missing()
	}
	var m [4]doors.Value
	if err := source.Members(sourceMembers, m[:]); err != nil {
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
func (c *chat) result(b *doors.Object) error {
	is, of, content := b.Member(ofFailed), b.Member(ofResultID), b.Member(ofContent)
	failed, err := is.Flag()
	if err != nil {
		return err
	}
	id, err := of.Needed()
	if err != nil {
		return err
	}
	c.lost = c.lost || failed
	c.Open("tool", c.at)
	c.Member("tool_call_id")
	c.Out = doors.AppendRaw(c.Out, id)
	c.Member("content")
	switch content.Kind() {
	case '[':
		err = c.resultParts(&content, failed)
	case 0:
		c.resultText(nil, failed)
	default:
		var text []byte
		text, err = content.Text()
		c.resultText(text, failed)
	}
	c.Out = append(c.Out, '}')
	return err
}

// failure is what the result of a failed tool begins with.
const failure = "Error: "

func (c *chat) resultText(text []byte, failed bool) {
	c.Out = append(c.Out, '"')
	if failed {
		c.Out = append(c.Out, failure...)
	}
	c.Out = append(append(c.Out, text...), '"')
}

func (c *chat) resultParts(content *doors.Value, failed bool) error {
	c.Out = append(c.Out, '[')
	if failed {
		c.Out = append(c.Out, `{"type":"text","text":"`+failure+`"}`...)
	}
	some, cur := failed, content.Again()
	err := doors.Objects(&cur, &c.inner, blockNames, func(b *doors.Object) error {
		some = true
		kind, err := kindOf(b)
		if err == nil && kind != textBlock && kind != imageBlock {
			err = b.Untranslatable()
		}
		if err != nil {
			return err
		}
		c.lost = c.lost || kind == imageBlock
		return c.part(b, kind)
	})
	if !some { // a chat completion's content has a part at least
		c.Out = append(c.Out, `{"type":"text","text":""}`...)
	}
	c.Out = append(c.Out, ']')
	return err
}
