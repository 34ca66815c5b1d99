package stream

import (
	"octet/gateway/sse"
	"octet/gateway/wire"
)

// Transcript is the text that a client got, kept once for all that look at it afterwards: the verifier, and the
// comparison with a second opinion. The zero Transcript keeps nothing.
type Transcript struct {
	raw   []byte // the inside of a JSON string
	most  int64  // bytes of raw that are of use; 0 keeps nothing
	over  bool   // it was longer
	plain []byte // raw unescaped, once it was asked for
}

// Keep begins to keep texts of up to most bytes, or longer ones if they were asked for before.
func (t *Transcript) Keep(most int64) { t.most = max(t.most, most) }

// Begin makes a scanner keep the text of an engine's answer, beside what o wants. An answer of which the client has
// seen nothing so far begins anew.
func (t *Transcript) Begin(o *sse.Options, seen bool) {
	if t.most == 0 {
		return
	}
	if !seen {
		t.raw, t.over = t.raw[:0], false
	}
	other := o.Text
	o.Text = func(raw []byte) {
		t.add(raw)
		if other != nil {
			other(raw)
		}
	}
}

func (t *Transcript) add(raw []byte) {
	if t.over = t.over || int64(len(t.raw)+len(raw)) > t.most; !t.over {
		t.raw = append(t.raw, raw...)
	}
}

// Whole keeps the text of an answer that came in one piece.
func (t *Transcript) Whole(text []byte) {
	if t.most > 0 {
		t.raw, t.over = t.raw[:0], false
		t.add(text)
	}
}

// Over reports whether the text was longer than what is kept.
func (t *Transcript) Over() bool { return t.over }

// Within returns the text if it is no longer than most bytes as it came. It must not be changed.
func (t *Transcript) Within(most int64) (text []byte, ok bool) {
	if t.most == 0 || t.over || int64(len(t.raw)) > most {
		return nil, false
	}
	if t.plain == nil {
		t.plain = wire.AppendUnquoted(nil, t.raw)
	}
	return t.plain, true
}
