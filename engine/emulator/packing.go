package emulator

// packing gathers the tokens of one choice into the events of a stream, as engines do that send several tokens an event
// and that hold back the bytes of a character which is not whole yet. The zero value has nothing gathered.
type packing struct {
	text  []byte // of tokens that no event has brought
	whole int    // text[:whole] ends with a whole character
	ids   []uint32
	sent  int // tokens in events so far
}

// add takes the next token of c and reports whether an event is due: with the first token, with the last one, and with
// every interval'th between them.
func (p *packing) add(t token, interval int, split bool) (due bool) {
	p.text, p.ids = append(p.text, t.text...), append(p.ids, t.id)
	last := t.choice.finish != ""
	if last || !split || !isPart(t.choice.tokens) {
		p.whole = len(p.text)
	}
	return last || p.sent == 0 || t.choice.tokens-p.sent >= interval
}

// isPart reports whether the token that came as number n, from 1, is the beginning of a character in an engine that
// splits some: the second token and every third after it.
func isPart(n int) bool { return n%3 == 2 }

// take returns what the event that is due brings, valid until the next add. Text that is not whole stays for the next
// event.
func (p *packing) take(c *choice) (text []byte, ids []uint32) {
	text, ids = p.text[:p.whole:p.whole], p.ids
	rest := append([]byte(nil), p.text[p.whole:]...)
	p.text, p.whole, p.ids, p.sent = rest, 0, nil, c.tokens
	return text, ids
}
