package sse

import "octet/gateway/wire"

// readUsage reads a usage object; null and anything else say nothing.
func (k *chunk) readUsage(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	k.hasUsage = true
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		switch string(name) {
		case "prompt_tokens":
			k.usage.PromptTokens, _ = c.Int()
			k.ends[holdsPrompt] = c.Offset()
		case "completion_tokens":
			c.Peek()
			k.completion.from = c.Offset()
			k.usage.CompletionTokens, _ = c.Int()
			k.ends[holdsCompletion], k.completion.to = c.Offset(), c.Offset()
		case "total_tokens":
			c.Peek()
			k.total.from = c.Offset()
			c.Skip()
			k.total.to = c.Offset()
		case "prompt_tokens_details":
			k.cached(c)
		default:
			c.Skip()
		}
	}
}

// cached reads prompt_tokens_details, which is null where the engine does not tell.
func (k *chunk) cached(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		if string(name) != "cached_tokens" {
			c.Skip()
			continue
		}
		k.usage.CachedTokens, k.usage.CachedKnown = c.Int()
		k.ends[holdsCached] = c.Offset()
	}
}

// readTimings reads llama.cpp's timings.
func (k *chunk) readTimings(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		if string(name) != "predicted_n" {
			c.Skip()
			continue
		}
		k.predicted, _ = c.Int()
	}
}

// finishName is the plain finish reason; the usual ones cost no allocation.
func finishName(raw []byte) string {
	switch string(raw) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	case "content_filter":
		return "content_filter"
	case "function_call":
		return "function_call"
	}
	return string(wire.AppendUnquoted(nil, raw))
}

// engineError reads the error object again, now for its words: it ends the stream and comes once.
func (k *chunk) engineError(data []byte) *EngineError {
	e := &EngineError{}
	c := wire.NewCursor(data, maxDepth)
	if k.flat || !k.failed {
		e.Read(&c)
		return e
	}
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		switch {
		case string(name) != "error":
			c.Skip()
		case c.Peek() == '"':
			e.Message = plain(&c)
		default:
			e.Read(&c)
		}
	}
	return e
}

// Read reads an error object; any other value is passed over.
func (e *EngineError) Read(c *wire.Cursor) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	for name, ok := c.Key(); ok; name, ok = c.Key() {
		switch string(name) {
		case "message":
			e.Message = plain(c)
		case "type":
			e.Type = plain(c)
		case "code":
			e.Code = plain(c)
		default:
			c.Skip()
		}
	}
}

// plain reads a string or spells out a number; everything else is "".
func plain(c *wire.Cursor) string {
	switch ch := c.Peek(); {
	case ch == '"':
		return string(wire.AppendUnquoted(nil, c.Quoted()))
	case ch == '-' || '0' <= ch && ch <= '9':
		return string(c.Number())
	}
	c.Skip()
	return ""
}
