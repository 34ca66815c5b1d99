package bpe

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what a character is to the splitting patterns: one of the bits below, or none for punctuation, symbols and
// the like.
type class uint8

const (
	upper    class = 1 << iota // Lu, Lt
	lower                      // Ll
	caseless                   // Lm, Lo
	mark                       // M
	number                     // N
	space                      // White_Space
	newline                    // \r, \n; space as well
)

const letter = upper | lower | caseless

// classTable is two-staged: pages[page[r>>8]][r&255].
type classTable struct {
	page  [unicode.MaxRune>>8 + 1]uint16
	pages [][256]class
	ascii [256]class // of the characters below 128; 0 from there on
}

// classTables is made once, of the tables of package unicode.
var classTables = sync.OnceValue(func() *classTable {
	flat := make([]class, unicode.MaxRune+1)
	for _, one := range []struct {
		table *unicode.RangeTable
		class class
	}{
		{unicode.Lu, upper}, {unicode.Lt, upper}, {unicode.Ll, lower}, {unicode.Lm, caseless}, {unicode.Lo, caseless},
		{unicode.M, mark}, {unicode.N, number}, {unicode.White_Space, space},
	} {
		each(one.table, func(r rune) { flat[r] |= one.class })
	}
	flat['\r'] |= newline
	flat['\n'] |= newline
	return compact(flat)
})

// each calls f with every character of table.
func each(table *unicode.RangeTable, f func(rune)) {
	for _, r := range table.R16 {
		for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
			f(rune(c))
		}
	}
	for _, r := range table.R32 {
		for c := r.Lo; c <= r.Hi; c += r.Stride {
			f(rune(c))
		}
	}
}

func compact(flat []class) *classTable {
	t := new(classTable)
	known := map[[256]class]uint16{}
	for i := range t.page {
		page := [256]class(flat[i<<8 : (i+1)<<8])
		at, ok := known[page]
		if !ok {
			at = uint16(len(t.pages))
			t.pages = append(t.pages, page)
			known[page] = at
		}
		t.page[i] = at
	}
	copy(t.ascii[:utf8.RuneSelf], flat)
	return t
}

// at returns the class and the length of the character that begins at text[i]; 0, 0 at the end. What is not UTF-8 is a
// character of no class for each byte.
func (t *classTable) at(text []byte, i int) (class, int) {
	if i >= len(text) {
		return 0, 0
	}
	if b := text[i]; b < utf8.RuneSelf {
		return t.ascii[b], 1
	}
	r, n := utf8.DecodeRune(text[i:])
	return t.of(r, n), n
}

// before returns the class of the character that ends at text[i], i > 0.
func (t *classTable) before(text []byte, i int) class {
	if b := text[i-1]; b < utf8.RuneSelf {
		return t.ascii[b]
	}
	r, n := utf8.DecodeLastRune(text[:i])
	return t.of(r, n)
}

func (t *classTable) of(r rune, size int) class {
	if r == utf8.RuneError && size <= 1 {
		return 0
	}
	return t.pages[t.page[r>>8]][r&255]
}

// run returns the end of the stretch of characters of class c that begins at text[i], which may be empty.
func (t *classTable) run(text []byte, i int, c class) int {
	for i < len(text) {
		if b := text[i]; b < utf8.RuneSelf {
			if t.ascii[b]&c == 0 {
				return i
			}
			i++
			continue
		}
		of, n := t.at(text, i)
		if of&c == 0 {
			return i
		}
		i += n
	}
	return i
}

// runOther returns the end of the stretch of characters that are of none of the classes c.
func (t *classTable) runOther(text []byte, i int, c class) int {
	for i < len(text) {
		of, n := t.at(text, i)
		if of&c != 0 {
			return i
		}
		i += n
	}
	return i
}
