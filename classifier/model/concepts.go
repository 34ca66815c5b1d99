package model

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrConcepts is a list of concepts that makes no sense.
var ErrConcepts = errors.New("concepts")

const (
	maxGroups   = 512
	maxTerms    = 1 << 16
	maxLiterals = 1 << 13
	maxLiteral  = 64 // bytes
)

// concepts are groups of terms and of literals that say the same to a model. A term is a word or two in a row, in lower
// case; a literal is text that begins where a token does.
type concepts struct {
	names    []string // of the groups: first those of terms, then those of literals
	byTerms  int      // how many groups are of terms
	terms    []term   // open addressing by hash; a hash of 0 is an empty slot
	known    int      // terms
	groups   []uint16 // the groups of all terms, each term's together
	literals []literal
	single   [256][]uint16   // literals of one byte
	begins   [opens][]uint16 // the others, by their first two bytes
}

type term struct {
	hash         uint64
	number       uint32
	first, count uint32 // its groups are concepts.groups[first:first+count]
}

type literal struct {
	text       string
	group      uint16
	head, mask uint64 // its first eight bytes as a little-endian number, and the bits of it that it has
}

const opens = 1 << 10

// opening spreads the first two bytes of a literal.
func opening(a, b byte) int { return (int(a)*37 + int(b)) % opens }

// headOf is the first eight bytes of text as a little-endian number, 0 for what is not there.
func headOf(text string) (head uint64) {
	if len(text) >= 8 {
		return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
			uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
	}
	for i := range len(text) {
		head |= uint64(text[i]) << (8 * i)
	}
	return head
}

// parseConcepts reads a list, one group a line: `words NAME: word two+words …` or `texts NAME: "literal" …`, where
// a literal is quoted as in Go. Blank lines and lines that begin with # are passed.
func parseConcepts(list string) (*concepts, error) {
	var c concepts
	words := map[string][]uint16{}
	var order []string
	for number, line := range numbered(list) {
		kind, rest, _ := strings.Cut(line, " ")
		name, members, ok := strings.Cut(rest, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("%w: line %d: want `words NAME: …` or `texts NAME: …`", ErrConcepts, number)
		}
		if len(c.names) == maxGroups {
			return nil, fmt.Errorf("%w: line %d: more than %d groups", ErrConcepts, number, maxGroups)
		}
		group := uint16(len(c.names))
		c.names = append(c.names, name)
		switch {
		case kind == "words" && len(c.literals) == 0:
			c.byTerms++
			for w := range strings.FieldsSeq(strings.ToLower(members)) {
				if words[w] == nil {
					order = append(order, w)
				}
				words[w] = append(words[w], group)
			}
		case kind == "texts":
			if err := c.addLiterals(members, group); err != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrConcepts, number, err)
			}
		default:
			return nil, fmt.Errorf("%w: line %d: %q is neither words nor texts, or words after texts", ErrConcepts,
				number, kind)
		}
	}
	return &c, c.index(order, words)
}

// numbered yields the lines that say something.
func numbered(list string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		lines := bufio.NewScanner(strings.NewReader(list))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			line := strings.TrimSpace(lines.Text())
			if line != "" && line[0] != '#' && !yield(n, line) {
				return
			}
		}
	}
}

func (c *concepts) addLiterals(members string, group uint16) error {
	for members = strings.TrimSpace(members); members != ""; members = strings.TrimSpace(members) {
		quoted, err := strconv.QuotedPrefix(members)
		if err != nil {
			return fmt.Errorf("a literal that is not quoted at %.20q", members)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil || text == "" || len(text) > maxLiteral || len(c.literals) == maxLiterals {
			return fmt.Errorf("the literal %.40s is empty or longer than %d bytes, or one of more than %d", quoted,
				maxLiteral, maxLiterals)
		}
		bucket := &c.single[text[0]]
		if len(text) > 1 {
			bucket = &c.begins[opening(text[0], text[1])]
		}
		*bucket = append(*bucket, uint16(len(c.literals)))
		c.literals = append(c.literals, literal{text, group, headOf(text), ^uint64(0) >> (64 - 8*min(len(text), 8))})
		members = members[len(quoted):]
	}
	return nil
}

// index builds the table of terms, at most a quarter full.
func (c *concepts) index(order []string, groups map[string][]uint16) error {
	if len(order) > maxTerms {
		return fmt.Errorf("%w: %d terms, at most %d", ErrConcepts, len(order), maxTerms)
	}
	size := 8
	for size < 4*len(order) {
		size *= 2
	}
	c.terms = make([]term, size)
	for _, w := range order {
		hash := hashOfTerm(w)
		i := hash & uint64(size-1)
		for ; c.terms[i].hash != 0; i = (i + 1) & uint64(size-1) {
			if c.terms[i].hash == hash {
				return fmt.Errorf("%w: %q has the hash of another term", ErrConcepts, w)
			}
		}
		c.terms[i] = term{hash, uint32(c.known), uint32(len(c.groups)), uint32(len(groups[w]))}
		c.groups = append(c.groups, groups[w]...)
		c.known++
	}
	return nil
}

// hashOfTerm is the hash by which find meets a word or two joined by "+".
func hashOfTerm(w string) uint64 {
	first, second, two := strings.Cut(w, "+")
	if !two {
		return hashOf(first)
	}
	return pair(hashOf(first), hashOf(second))
}

// find returns the term with a hash, or nil.
func (c *concepts) find(hash uint64) *term {
	mask := uint64(len(c.terms) - 1)
	for i := hash & mask; c.terms[i].hash != 0; i = (i + 1) & mask {
		if c.terms[i].hash == hash {
			return &c.terms[i]
		}
	}
	return nil
}
