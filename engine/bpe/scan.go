package bpe

// pattern is one of the splitting patterns that models use, as a scanner. A word's end depends on the text from the
// word's beginning alone, and every character is in a word.
type pattern struct {
	fold bool // contractions match in any case, and before all else
	// a word of letters changes from upper to lower case at most once, and has its contraction at its end
	cased    bool
	english  bool  // there are contractions at all
	lead     bool  // a character that is no letter, number or line's end may begin a word of letters; else only ' ' may
	digits   int   // of a number's piece at most; 0 is any
	spaced   bool  // a number may begin with ' '
	lineEnds bool  // line's ends belong to the punctuation before them
	slashes  bool  // and so do slashes
	lines    bool  // white space up to a line's end is a word
	isolate  bool  // numbers are cut out before anything else, so that white space before one stands at an end
	letters  class // what words are made of
}

const (
	tailGPT = `|\s+(?!\S)|\s+`
	tail    = `|\s*[\r\n]+` + tailGPT
	shorts  = `'s|'t|'re|'ve|'m|'ll|'d`
	uppers  = `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
	lowers  = `[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
	lead    = `[^\r\n\p{L}\p{N}]?`
)

// patterns are the regular expressions that a tokenizer.json may name, each with the scanner that does the same.
var patterns = map[string]pattern{
	gpt2Regex: {english: true, spaced: true, letters: letter},
	`(?i:` + shorts + `)|` + lead + `\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail:        llama3(3, letter),
	`(?i:` + shorts + `)|` + lead + `\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*` + tail:             llama3(1, letter),
	`(?i:` + shorts + `)|` + lead + `[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` + tail: llama3(1, letter|mark),
	o200kWords(`(?i:`+shorts+`)?`) + `|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail:            o200k(3, true),
	o200kWords(``) + `|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*` + tail:                                 o200k(1, false),
}

const gpt2Regex = shorts + `| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+` + tailGPT

func o200kWords(contraction string) string {
	return lead + uppers + `*` + lowers + `+` + contraction + `|` + lead + uppers + `+` + lowers + `*` + contraction
}

func llama3(digits int, words class) pattern {
	return pattern{fold: true, english: true, lead: true, digits: digits, lineEnds: true, lines: true, letters: words}
}

func o200k(digits int, english bool) pattern {
	return pattern{
		fold: true, cased: true, english: english, lead: true, digits: digits, lineEnds: true, slashes: true,
		lines: true, letters: letter,
	}
}

// word returns the length of the first word of text, which must not be empty.
func (p *pattern) word(t *classTable, text []byte) int {
	first, size := t.at(text, 0)
	if p.english && !p.cased && text[0] == '\'' {
		if n := p.contraction(text); n > 0 {
			return n
		}
	}
	if n := p.letterWord(t, text, first, size); n > 0 {
		return n
	}
	switch {
	case first&number != 0:
		return p.numberEnd(t, text, 0)
	case p.spaced && text[0] == ' ' && p.next(t, text)&number != 0:
		return p.numberEnd(t, text, 1)
	case first&space == 0:
		return p.punctuation(t, text, 0)
	case text[0] == ' ' && len(text) > 1 && p.next(t, text)&(space|number|p.letters) == 0:
		return p.punctuation(t, text, 1)
	}
	return p.spaces(t, text)
}

func (p *pattern) next(t *classTable, text []byte) class {
	c, _ := t.at(text, 1)
	return c
}

// letterWord returns the length of the word of letters that text begins with, 0 for none.
func (p *pattern) letterWord(t *classTable, text []byte, first class, size int) int {
	leads := first&(newline|letter|number) == 0 && p.lead || !p.lead && text[0] == ' '
	switch {
	case p.cased:
		return p.casedWord(t, text, leads, size)
	case leads:
		if n := t.run(text, size, p.letters); n > size {
			return n
		}
	}
	return t.run(text, 0, p.letters)
}

// numberEnd returns the end of the number at text[i].
func (p *pattern) numberEnd(t *classTable, text []byte, i int) int {
	if p.digits == 0 {
		return t.run(text, i, number)
	}
	for range p.digits {
		c, n := t.at(text, i)
		if c&number == 0 {
			break
		}
		i += n
	}
	return i
}

// punctuation returns the end of the word of punctuation at text[i].
func (p *pattern) punctuation(t *classTable, text []byte, i int) int {
	i = t.runOther(text, i, space|number|p.letters)
	for p.lineEnds && i < len(text) && (text[i] == '\n' || text[i] == '\r' || p.slashes && text[i] == '/') {
		i++
	}
	return i
}

// spaces returns the length of the word of white space that text begins with: up to the last line's end, else without
// the last character where a word follows.
func (p *pattern) spaces(t *classTable, text []byte) int {
	end, last, line := 0, 0, 0 // of the run, of all of it but its last character, of its last line's end
	for {
		c, n := t.at(text, end)
		if c&space == 0 {
			break
		}
		last, end = end, end+n
		if c&newline != 0 {
			line = end
		}
	}
	switch {
	case p.lines && line > 0:
		return line
	case end == len(text) || last == 0:
		return end
	}
	if c, _ := t.at(text, end); p.isolate && c&number != 0 {
		return end
	}
	return last
}
