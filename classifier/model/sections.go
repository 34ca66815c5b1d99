package model

// A section is a sentence or a line of a text, or as many lines of code as stand together.

const (
	maxSections = 64 // of a text; what is behind them is the last one's
	shortWords  = 4  // so few words before a comma are a section: "Good morning,"
)

// section is a part of what was noted: the ends of its entries.
type section struct {
	keys, terms, literals int
	words, starts, signs  int
	prose                 bool // it may be courtesy
	dropped               bool
}

// now is where the notes are.
func (n *notes) now() section {
	return section{keys: len(n.keys), terms: len(n.terms), literals: len(n.literals), words: n.words, starts: n.starts,
		signs: n.signs}
}

// last is the end of the sections that are closed.
func (n *notes) last() section {
	if len(n.sections) == 0 {
		return section{}
	}
	return n.sections[len(n.sections)-1]
}

// ends reports whether a section ends with the sign that stands before i.
func (n *notes) ends(text string, i int) bool {
	if i < len(text) && classes[text[i]] != space {
		return false
	}
	switch text[i-1] {
	case '.', '!', '?', ':':
		return true
	case ',':
		return n.words-n.last().words <= shortWords
	}
	return false
}

// close ends a section, if anything was noted since the one before. Code joins the code before it.
func (n *notes) close() {
	last, now := n.last(), n.now()
	if now.starts == last.starts || len(n.sections) == maxSections {
		return
	}
	now.prose = isProse(now.words-last.words, now.signs-last.signs)
	if len(n.sections) > 0 && !now.prose && !last.prose {
		n.sections[len(n.sections)-1] = now
		return
	}
	n.sections = append(n.sections, now)
}

// finish closes what is open: where there is no room, it is the last section's.
func (n *notes) finish() {
	if len(n.sections) == maxSections {
		now := n.now()
		n.sections[maxSections-1] = now
		return
	}
	n.close()
}

// isProse reports whether so few signs are between so many words.
func isProse(words, signs int) bool { return words > 0 && 3*signs <= words+6 }

// kept calls see with the sections that are kept, each with where it begins.
func (n *notes) kept(see func(from, to *section)) {
	var from section
	for i := range n.sections {
		to := &n.sections[i]
		if !to.dropped {
			see(&from, to)
		}
		from = *to
	}
}

// count fills hits and distinct from the sections that are kept, and makes words, starts and signs those of them.
func (n *notes) count(c *concepts) {
	n.words, n.starts, n.signs = 0, 0, 0
	n.kept(func(from, to *section) {
		for _, t := range n.terms[from.terms:to.terms] {
			n.term(t, c)
		}
		for _, l := range n.literals[from.literals:to.literals] {
			n.literal(l, c)
		}
		n.words += to.words - from.words
		n.starts += to.starts - from.starts
		n.signs += to.signs - from.signs
	})
}
