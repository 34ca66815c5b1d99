package gateway

import (
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// said is the text that a client was told, kept once for all who look at it after: the verifier, and who compares it
// with a second opinion. A nil said keeps nothing. The exchange's.
type said struct {
	raw   []byte // the inside of a JSON string
	most  int64  // bytes that anybody has a use for
	over  bool   // it was longer
	plain []byte // raw unescaped, once somebody has asked
}

// keepSaid begins to keep what the client will be told, for one who has a use for texts of up to most bytes.
func (x *exchange) keepSaid(most int64) {
	if x.said == nil {
		x.said = new(said)
	}
	x.said.most = max(x.said.most, most)
}

// overheard makes a scanner keep the text, beside what o wants. An answer of which nobody has seen anything begins
// anew.
func (x *exchange) overheard(o sse.Options) sse.Options {
	kept, other := x.said, o.Text
	if kept == nil {
		return o
	}
	if !x.started {
		kept.raw, kept.over = kept.raw[:0], false
	}
	o.Text = func(raw []byte) {
		kept.add(raw)
		if other != nil {
			other(raw)
		}
	}
	return o
}

func (s *said) add(raw []byte) {
	if s.over = s.over || int64(len(s.raw)+len(raw)) > s.most; !s.over {
		s.raw = append(s.raw, raw...)
	}
}

// whole keeps the text of an answer that came whole.
func (s *said) whole(text []byte) {
	if s != nil {
		s.raw, s.over = s.raw[:0], false
		s.add(text)
	}
}

// within returns the text, which nobody may change, where it is no longer than most bytes as it came.
func (s *said) within(most int64) (text []byte, ok bool) {
	if s == nil || s.over || int64(len(s.raw)) > most {
		return nil, false
	}
	if s.plain == nil {
		s.plain = wire.AppendUnquoted(nil, s.raw)
	}
	return s.plain, true
}
