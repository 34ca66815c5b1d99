package model

import "strings"

// notes are what one text shows. They are kept between texts and emptied by begin.
type notes struct {
	keys   []uint32 // of the features, in the order of the text, repetitions included
	words  int      // parts of words
	starts int      // tokens

	signs int // tokens that are signs

	terms    []*term   // sights of terms, in the order of the text
	literals []uint16  // likewise
	sections []section // see sections.go

	hits     []uint32 // by group: sights of its terms or literals
	distinct []uint32 // by group: how many different ones
	sightsT  []bool   // by term: seen
	sightsL  []bool   // by literal: seen
	termsIn  []uint32 // the terms that were seen
	litsIn   []uint16 // the literals

	lastToken uint64 // hash of the token before; 0 at the start
	lastWord  uint64 // hash of the word before
}

func newNotes(c *concepts) *notes {
	return &notes{
		hits: make([]uint32, len(c.names)), distinct: make([]uint32, len(c.names)),
		sightsT: make([]bool, c.known), sightsL: make([]bool, len(c.literals)),
	}
}

func (n *notes) begin() {
	for _, t := range n.termsIn {
		n.sightsT[t] = false
	}
	for _, l := range n.litsIn {
		n.sightsL[l] = false
	}
	clear(n.hits)
	clear(n.distinct)
	n.keys, n.termsIn, n.litsIn = n.keys[:0], n.termsIn[:0], n.litsIn[:0]
	n.terms, n.literals, n.sections = n.terms[:0], n.literals[:0], n.sections[:0]
	n.words, n.starts, n.signs, n.lastToken, n.lastWord = 0, 0, 0, 0, 0
}

type class uint8

const (
	sign class = iota
	space
	letter // and what is not ASCII
	digit
	joint // _
)

var classes = func() (t [256]class) {
	for b := range 256 {
		switch c := byte(b); {
		case c <= ' ':
			t[b] = space
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			t[b] = letter
		case c >= '0' && c <= '9':
			t[b] = digit
		case c == '_':
			t[b] = joint
		}
	}
	return t
}()

func inWord(c byte) bool { k := classes[c]; return k >= letter }

// read notes what text shows: one pass, and a bounded number of comparisons with literals a token.
func (n *notes) read(text string, c *concepts) {
	for i := 0; i < len(text); {
		switch classes[text[i]] {
		case space:
			if text[i] == '\n' {
				n.close()
			}
			i++
		case digit:
			n.match(text[i:], c)
			for i < len(text) && (inWord(text[i]) || text[i] == '.' || text[i] == '\'') {
				i++
			}
			n.token(hashOf("0"))
		case sign:
			end := i + 1
			n.match(text[i:], c)
			h := mix(offset64, text[i])
			if end < len(text) && classes[text[end]] == sign {
				n.match(text[end:], c)
				h = mix(h, text[end])
				end++
			}
			n.token(finish(h))
			n.signs++
			i = end
			if n.ends(text, i) {
				n.close()
			}
		default:
			n.match(text[i:], c)
			i += n.word(text[i:], c)
		}
	}
	n.finish()
}

// match notes the literals that begin here.
func (n *notes) match(text string, c *concepts) {
	n.starts++
	n.literals = append(n.literals, c.single[text[0]]...)
	if len(text) == 1 {
		return
	}
	head := headOf(text)
	for _, l := range c.begins[opening(text[0], text[1])] {
		lit := &c.literals[l]
		if (head^lit.head)&lit.mask == 0 && (len(lit.text) <= 8 || strings.HasPrefix(text, lit.text)) &&
			len(lit.text) <= len(text) {
			n.literals = append(n.literals, l)
		}
	}
}

func (n *notes) literal(l uint16, c *concepts) {
	group := c.literals[l].group
	n.hits[group]++
	if !n.sightsL[l] {
		n.sightsL[l] = true
		n.distinct[group]++
		n.litsIn = append(n.litsIn, l)
	}
}

// word notes the identifier or word that begins here, whole and in its parts, snake_case or camelCase, and returns its
// length.
func (n *notes) word(text string, c *concepts) int {
	whole, part := uint64(offset64), uint64(offset64)
	begun := false // a part that is not a number
	var before byte
	end := 0
	for ; end < len(text) && inWord(text[end]); end++ {
		b := text[end]
		if end > 0 && splits(before, b) {
			if begun {
				n.part(finish(part), c)
			}
			part, begun = offset64, false
		}
		lower := b
		if b >= 'A' && b <= 'Z' {
			lower |= 0x20
		}
		whole = mix(whole, lower)
		part = mix(part, lower)
		begun = begun || classes[b] == letter
		before = b
	}
	if begun {
		n.part(finish(part), c)
	}
	n.keys = append(n.keys, key(finish(whole), ofWord))
	return end
}

// splits reports whether a part of a word ends between two bytes.
func splits(before, b byte) bool {
	from, to := classes[before], classes[b]
	return from != to || b >= 'A' && b <= 'Z' && before >= 'a' && before <= 'z'
}

// part notes one part of a word, and the terms that it makes alone and with the word before.
func (n *notes) part(hash uint64, c *concepts) {
	n.words++
	n.token(hash)
	if t := c.find(hash); t != nil {
		n.terms = append(n.terms, t)
	}
	if n.lastWord != 0 {
		if t := c.find(pair(n.lastWord, hash)); t != nil {
			n.terms = append(n.terms, t)
		}
	}
	n.lastWord = hash
}

func (n *notes) term(t *term, c *concepts) {
	first := !n.sightsT[t.number]
	if first {
		n.sightsT[t.number] = true
		n.termsIn = append(n.termsIn, t.number)
	}
	for _, g := range c.groups[t.first : t.first+t.count] {
		n.hits[g]++
		if first {
			n.distinct[g]++
		}
	}
}

// token notes a part of a word, a number or a sign, and the pair that it makes with the token before.
func (n *notes) token(hash uint64) {
	n.keys = append(n.keys, key(hash, ofPart))
	if n.lastToken != 0 {
		n.keys = append(n.keys, key(pair(n.lastToken, hash), ofPair))
	}
	n.lastToken = hash
}
