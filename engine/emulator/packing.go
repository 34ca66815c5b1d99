package emulator

// packing gathers the tokens of one choice into the events of a stream, as engines do that send several tokens an event
// and that hold back the bytes of a character which is not whole yet. The zero value has nothing gathered.
type packing struct {
	part  part
	call  int
	text  []byte // of tokens that no event has brought
	whole int    // text[:whole] ends with a whole character
	ids   []uint32
	got   int // tokens of the choice up to the last that is shown
	sent  int // tokens in events so far
}

// delta is what one event brings of a choice.
type delta struct {
	part   part
	call   int
	text   []byte
	ids    []uint32
	tokens int    // of the choice so far
	finish string // why it has ended; "" if it has not
}

// breaks reports whether what is gathered must go before t, which is shown in another place.
func (p *packing) breaks(t token) bool {
	return p.got > p.sent && p.part != partUnseen && t.part != partUnseen && (t.part != p.part || t.call != p.call)
}

// add takes the next token of c and reports whether an event is due: with the first token, with the last one, and with
// every interval'th between them.
func (p *packing) add(t token, interval int, split bool) (due bool) {
	p.text, p.ids = append(p.text, t.text...), append(p.ids, t.id)
	last := t.choice.finish != ""
	if last || t.part != partUnseen { // marks count with what comes behind them
		p.got = t.choice.tokens
	}
	if t.part != partUnseen {
		p.part, p.call = t.part, t.call
	} else if len(p.text) == 0 {
		p.part = partUnseen
	}
	if last || !split || t.part == partName || !isPart(t.choice.tokens) {
		p.whole = len(p.text)
	}
	return last || p.part != partUnseen && (p.sent == 0 || t.choice.tokens-p.sent >= interval)
}

// isPart reports whether the token that came as number n, from 1, is the beginning of a character in an engine that
// splits some: the second token and every third after it.
func isPart(n int) bool { return n%3 == 2 }

// take returns what the event that is due brings, valid until the next add. Text that is not whole stays for the next
// event, unless that shows something else.
func (p *packing) take(all bool, finish string) delta {
	if all {
		p.whole = len(p.text)
	}
	d := delta{part: p.part, call: p.call, text: p.text[:p.whole:p.whole], ids: p.ids, tokens: p.got, finish: finish}
	rest := append([]byte(nil), p.text[p.whole:]...)
	p.text, p.whole, p.ids, p.sent = rest, 0, nil, p.got
	return d
}
