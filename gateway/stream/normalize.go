package stream

import (
	"bytes"
	"slices"

	"octet/engine"
	"octet/gateway/wire"
)

// Normalizer brings the events of engines that write streams in their own way into the form that OpenAI's clients rely
// on: the first delta of a choice names its role, and the usage comes, for clients that asked for it, in a chunk of its
// own without choices. All else passes as it is.
type Normalizer struct {
	roles bool // there are deltas that need one
	usage bool // it was asked for
	more  int  // choices whose role has not come yet; while there are any, every event is read
	named [wideChoices / 64]uint64
	out   []byte
	cuts  []cut
}

// wideChoices bounds the choices of one request that are told apart.
const wideChoices = 256

// Normalize returns what the events of an engine need to have done to them for an answer to r; nil if they are as
// clients know them. before is what an earlier engine's events had, of a stream that has begun.
func Normalize(r *wire.Request, kind wire.Kind, e *engine.Kind, begun bool, before *Normalizer) *Normalizer {
	switch usage := r.StreamOptions.IncludeUsage; {
	case !e.Streams.Untidy:
		return nil
	case begun && before != nil:
		return before
	case begun: // its roles are out
		return &Normalizer{usage: usage}
	default:
		return &Normalizer{roles: kind == wire.Chat, usage: usage, more: max(r.N, 1)}
	}
}

var usageMark, nullMark = []byte(`"usage"`), []byte(`:null`)

// Events returns what the client gets for whole events; valid until the next call. A nil Normalizer changes nothing.
func (t *Normalizer) Events(all []byte) []byte {
	if t == nil || (!t.roles || t.more <= 0) && !saysUsage(all) {
		return all
	}
	t.out = t.out[:0]
	for len(all) > 0 {
		end := eventEnd(all)
		t.event(all[:end])
		all = all[end:]
	}
	return t.out
}

// saysUsage returns false if no event has a usage other than null, which most have where the client asked for it.
func saysUsage(all []byte) bool {
	for {
		at := bytes.Index(all, usageMark)
		if at < 0 {
			return false
		}
		all = all[at+len(usageMark):]
		if !bytes.HasPrefix(all, nullMark) {
			return true
		}
	}
}

// event appends what becomes of one.
func (t *Normalizer) event(event []byte) {
	at, data := dataOf(event)
	more, named := t.more, t.named
	k, ok := t.read(data)
	if !ok {
		t.more, t.named = more, named
	}
	if !ok || len(t.cuts) == 0 {
		t.out = append(t.out, event...)
		return
	}
	t.out = append(t.out, event[:at]...)
	t.out = append(splice(t.out, data, t.cuts), event[at+len(data):]...)
	if k.split && t.usage {
		t.out = k.append(t.out, data)
	}
}

// normalChunk is what is known of a chunk that is read to be tidied.
type normalChunk struct {
	shared [4]cut // the values of sharedNames; empty where the chunk has no such member
	usage  cut    // its value
	choice bool   // there are choices
	ended  bool   // and one of them is at its end
	split  bool   // the usage is cut out
}

var sharedNames = [...]string{"id", "object", "created", "model"}

// append adds the chunk that has the usage alone.
func (k *normalChunk) append(dst, data []byte) []byte {
	dst = append(dst, `data: {`...)
	for i, name := range sharedNames {
		if v := k.shared[i]; v.to > 0 {
			dst = append(append(append(append(dst, '"'), name...), `":`...), data[v.from:v.to]...)
			dst = append(dst, ',')
		}
	}
	dst = append(dst, `"choices":[],"usage":`...)
	return append(append(dst, data[k.usage.from:k.usage.to]...), "}\n\n"...)
}

// read looks at a chunk and sets the cuts to what is to be changed; false for what is no chunk.
func (t *Normalizer) read(data []byte) (k normalChunk, ok bool) {
	t.cuts = t.cuts[:0]
	c := wire.NewCursor(data, chunkDepth)
	if len(data) == 0 || c.Peek() != '{' {
		return k, false
	}
	c.Enter('{')
	member, usage := c.Offset(), cut{}
	for name, more := c.Key(); more; name, more = c.Key() {
		i := slices.Index(sharedNames[:], string(name))
		switch {
		case i >= 0:
			k.shared[i] = value(&c)
		case string(name) == "choices":
			t.choices(&c, &k)
		case string(name) == "usage" && c.Peek() == '{':
			k.usage = value(&c)
			usage = cut{from: member, to: k.usage.to, with: []byte{}}
		default:
			c.Skip()
		}
		member = c.Offset()
	}
	if usage.to > 0 && k.choice && k.ended {
		k.split = true
		t.cuts = append(t.cuts, withoutComma(data, usage))
	}
	return k, c.End()
}

// withoutComma widens a member, which begins behind the value before it, by the comma behind it where it is the first.
func withoutComma(data []byte, member cut) cut {
	if data[member.from-1] != '{' {
		return member
	}
	rest := bytes.TrimLeft(data[member.to:], " \t\r\n")
	if len(rest) > 0 && rest[0] == ',' {
		member.to = len(data) - len(rest) + 1
	}
	return member
}

func (t *Normalizer) choices(c *wire.Cursor, k *normalChunk) {
	if c.Peek() != '[' {
		c.Skip()
		return
	}
	for c.Enter('['); c.More(); {
		k.choice = true
		if c.Peek() != '{' {
			c.Skip()
			continue
		}
		t.oneChoice(c, k)
	}
}

func (t *Normalizer) oneChoice(c *wire.Cursor, k *normalChunk) {
	index, role := 0, cut{}
	c.Enter('{')
	for name, more := c.Key(); more; name, more = c.Key() {
		switch string(name) {
		case "index":
			index, _ = c.Int()
		case "delta":
			role = missingRole(c)
		case "finish_reason":
			ended := c.Peek() == '"'
			k.ended = ended || k.ended
			c.Skip()
		default:
			c.Skip()
		}
	}
	if !t.roles || t.more <= 0 || index < 0 || index >= wideChoices || t.named[index/64]>>(index%64)&1 == 1 {
		return
	}
	t.named[index/64] |= 1 << (index % 64)
	t.more--
	if role.with != nil {
		t.cuts = append(t.cuts, role)
	}
}

// missingRole reads a delta, and returns what adds the role if it has none.
func missingRole(c *wire.Cursor) (role cut) {
	if c.Peek() != '{' {
		c.Skip()
		return role
	}
	c.Enter('{')
	role = cut{from: c.Offset(), to: c.Offset(), with: []byte(`"role":"assistant"`)}
	found, others := false, false
	for name, more := c.Key(); more; name, more = c.Key() {
		if string(name) != "role" {
			others = true
			c.Skip()
			continue
		}
		found = true
		null := c.Peek() == 'n'
		if role = value(c); null {
			role.with = []byte(`"assistant"`)
		}
	}
	if others && !found {
		role.with = append(role.with, ',')
	}
	return role
}
