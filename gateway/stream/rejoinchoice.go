package stream

import "octet/gateway/wire"

// choices reads what the choices of a chunk bring, and where the role stands that one names.
func (v *chunkView) choices(c *wire.Cursor, data []byte) {
	if c.Peek() != '[' {
		c.Skip()
		return
	}
	for c.Enter('['); c.More(); {
		if c.Peek() != '{' {
			c.Skip()
			continue
		}
		c.Enter('{')
		for name, more := c.Key(); more; name, more = c.Key() {
			switch string(name) {
			case "delta":
				v.delta(c, data)
			case "text", "finish_reason":
				v.says = filled(c) || v.says
			default:
				c.Skip()
			}
		}
	}
}

// delta reads a chat's delta. Whatever it has beside the role is output, unless it is empty.
func (v *chunkView) delta(c *wire.Cursor, data []byte) {
	if c.Peek() != '{' {
		c.Skip()
		return
	}
	c.Enter('{')
	behind := c.Offset()
	for name, more := c.Key(); more; name, more = c.Key() {
		if string(name) == "role" {
			c.Skip()
			v.role = withoutComma(data, cut{from: behind, to: c.Offset(), with: []byte{}})
		} else {
			v.says = filled(c) || v.says
		}
		behind = c.Offset()
	}
}

// filled skips a value and returns true unless it is null, or empty.
func filled(c *wire.Cursor) bool {
	first := c.Peek()
	from := c.Offset()
	c.Skip()
	return first != 'n' && (first != '"' && first != '[' && first != '{' || c.Offset()-from > len(`""`))
}
