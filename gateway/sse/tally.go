package sse

// tally counts the tokens of a stream's choices. The zero value has counted nothing.
type tally struct {
	total  int
	events int // that brought output
	untold int // of those, events that did not tell how many tokens their choice has brought
	ended  int // choices that have a finish reason, or were cut
	cut    int // of those, that were cut
	first  part
	others map[int]*part // the choices other than 0; nil before one of them says something
}

// part is one choice's.
type part struct {
	tokens int
	ended  bool
	cut    bool // it went beyond what was asked for: nothing more of it is given out
}

// of returns a choice's part.
func (t *tally) of(index int) *part {
	if index == 0 {
		return &t.first
	}
	p := t.others[index]
	if p == nil {
		if t.others == nil {
			t.others = make(map[int]*part)
		}
		p = new(part)
		t.others[index] = p
	}
	return p
}

// next is the count of p after an event of output that told so many tokens so far; below 0 it told nothing, and is one
// token.
func (p *part) next(told int) int {
	if told < 0 {
		return p.tokens + 1
	}
	return max(told, p.tokens, 1)
}

// add notes an event of output after which p has so many tokens.
func (t *tally) add(p *part, tokens int, told bool) {
	t.events++
	if !told {
		t.untold++
	}
	t.total += tokens - p.tokens
	p.tokens = tokens
}

// end notes that p has ended. Idempotent.
func (t *tally) end(p *part) {
	if !p.ended {
		p.ended = true
		t.ended++
	}
}
