package bpe

// The two alternatives of o200k for a word of letters, of characters that count as upper case (U), as lower case (W) or
// as both: U*W+ and, where that fails, U+W*; each with a leading character if there can be one, else without.

const (
	likeUpper = upper | caseless | mark
	likeLower = lower | caseless | mark
)

// casedWord returns the length of the cased word that text begins with, its contraction included; 0 for none.
func (p *pattern) casedWord(t *classTable, text []byte, leads bool, size int) int {
	end := 0
	if leads {
		end = lowered(t, text, size)
	}
	if end == 0 {
		end = lowered(t, text, 0)
	}
	if end == 0 && leads {
		end = uppered(t, text, size)
	}
	if end == 0 {
		end = uppered(t, text, 0)
	}
	if end > 0 && p.english {
		end += p.contraction(text[end:])
	}
	return end
}

// lowered returns the end of U*W+ at text[from], 0 when it does not match. As U* takes all it can and then gives back,
// it ends behind the run of W that follows the run of U, else behind the last of U that is in W as well.
func lowered(t *classTable, text []byte, from int) (end int) {
	i := from
	for {
		c, n := t.at(text, i)
		if c&likeUpper == 0 {
			break
		}
		i += n
		if c&likeLower != 0 {
			end = i
		}
	}
	if further := t.run(text, i, likeLower); further > i {
		return further
	}
	return end
}

// uppered returns the end of U+W* at text[from], 0 when it does not match.
func uppered(t *classTable, text []byte, from int) int {
	end := t.run(text, from, likeUpper)
	if end == from {
		return 0
	}
	return t.run(text, end, likeLower)
}

// contraction returns the length of the English contraction that text begins with, 0 for none. In any case, a long s is
// an s.
func (p *pattern) contraction(text []byte) int {
	if len(text) < 2 || text[0] != '\'' {
		return 0
	}
	switch p.folded(text[1]) {
	case 's', 't', 'm', 'd':
		return 2
	case 0xC5:
		if p.fold && len(text) > 2 && text[2] == 0xBF {
			return 3
		}
	}
	if len(text) < 3 {
		return 0
	}
	switch [2]byte{p.folded(text[1]), p.folded(text[2])} {
	case [2]byte{'r', 'e'}, [2]byte{'v', 'e'}, [2]byte{'l', 'l'}:
		return 3
	}
	return 0
}

func (p *pattern) folded(b byte) byte {
	if p.fold && 'A' <= b && b <= 'Z' {
		return b | 0x20
	}
	return b
}
