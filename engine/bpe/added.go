package bpe

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// added is a token that is found in the text as it stands, before anything else.
type added struct {
	content        string
	id             uint32
	special        bool
	lstrip, rstrip bool // it takes the white space before or behind it along
	clean          bool // wherever its content stands in a text, and whatever stands around it, it is this token
}

// finder finds added tokens, leftmost first and of those the longest. The nil finder finds none.
type finder struct {
	tokens []added
	nodes  []node
	first  [256]bool // bytes that tokens begin with
	last   [256]bool // bytes that clean tokens end with
	sole   int       // the only byte that tokens begin with; -1 when there are several
}

// node is one of a trie's; 0 is no child, for no child is the root.
type node struct {
	child [256]uint16
	token int32 // index into tokens; -1 for none
}

// maxNodes bounds a trie; it takes 516 bytes a node.
const maxNodes = 1 << 16

func newFinder(tokens []added) (*finder, error) {
	if len(tokens) == 0 {
		return nil, nil //nolint:nilnil // the nil finder finds none, at no cost
	}
	f := &finder{tokens: tokens, nodes: []node{{token: -1}}, sole: int(tokens[0].content[0])}
	for i, t := range tokens {
		f.first[t.content[0]] = true
		if int(t.content[0]) != f.sole {
			f.sole = -1
		}
		if err := f.insert(t.content, i); err != nil {
			return nil, err
		}
	}
	f.mark()
	return f, nil
}

func (f *finder) insert(content string, i int) error {
	at := uint16(0)
	for _, b := range []byte(content) {
		if f.nodes[at].child[b] == 0 {
			if len(f.nodes) == maxNodes {
				return fmt.Errorf("%w: added tokens with more than %d different beginnings", ErrUnsupported, maxNodes)
			}
			f.nodes[at].child[b] = uint16(len(f.nodes))
			f.nodes = append(f.nodes, node{token: -1})
		}
		at = f.nodes[at].child[b]
	}
	f.nodes[at].token = int32(i)
	return nil
}

// mark notes which tokens are clean: none is part of another or shares an end with another's beginning.
func (f *finder) mark() {
	for i := range f.tokens {
		t := &f.tokens[i]
		t.clean = !t.lstrip && !t.rstrip && !slices.ContainsFunc(f.tokens, func(other added) bool {
			return other.content != t.content && strings.Contains(other.content, t.content) ||
				overlap(other.content, t.content) || overlap(t.content, other.content)
		})
		if t.clean {
			f.last[t.content[len(t.content)-1]] = true
		}
	}
}

// overlap reports whether a proper end of a is a proper beginning of b.
func overlap(a, b string) bool {
	for n := 1; n < len(a) && n < len(b); n++ {
		if a[len(a)-n:] == b[:n] {
			return true
		}
	}
	return false
}

// next returns the first token at or after text[from], which is text[start:end]; t is nil without one.
func (f *finder) next(text []byte, from int) (t *added, start, end int) {
	if f == nil {
		return nil, 0, 0
	}
	for i := f.skip(text, from); i < len(text); i = f.skip(text, i+1) {
		if t = f.at(text[i:]); t != nil {
			return t, i, i + len(t.content)
		}
	}
	return nil, 0, 0
}

// skip returns the first place at or after i where a token may begin.
func (f *finder) skip(text []byte, i int) int {
	if f.sole >= 0 {
		if n := bytes.IndexByte(text[i:], byte(f.sole)); n >= 0 {
			return i + n
		}
		return len(text)
	}
	for i < len(text) && !f.first[text[i]] {
		i++
	}
	return i
}

// at returns the longest token that text begins with.
func (f *finder) at(text []byte) (t *added) {
	at := uint16(0)
	for _, b := range text {
		if at = f.nodes[at].child[b]; at == 0 {
			return t
		}
		if i := f.nodes[at].token; i >= 0 {
			t = &f.tokens[i]
		}
	}
	return t
}
