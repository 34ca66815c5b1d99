package bpe

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// vocabulary turns one word into ids.
type vocabulary struct {
	byteLevel bool
	words     *wordTable // words that become one token; looked up before anything is merged
	merges    *merges
	bytes     [256]uint32 // the ids that a word's bytes begin as; of a sentence vocabulary: those of <0x00> and so on
	known     [256]bool   // which of bytes there are
	runes     map[rune]uint32
	fallback  bool // characters that are not in runes become their bytes
	unknown   *uint32
	fuse      bool // several unknown characters in a row become one unknown token
	spelling  map[uint32]string
}

// encode appends the ids of a word, which is not empty.
func (v *vocabulary) encode(dst []uint32, word []byte, s *scratch) []uint32 {
	if id, ok := v.words.id(word); ok {
		return append(dst, id)
	}
	return v.pieces(dst, word, s)
}

// pieces appends the ids that merging makes of a word.
func (v *vocabulary) pieces(dst []uint32, word []byte, s *scratch) []uint32 {
	from := len(dst)
	if v.byteLevel {
		dst = v.byBytes(dst, word)
	} else {
		dst = v.byRunes(dst, word)
	}
	return dst[:from+len(s.merge(v.merges, dst[from:]))]
}

func (v *vocabulary) byBytes(dst []uint32, word []byte) []uint32 {
	unknown := false
	for _, b := range word {
		if v.known[b] {
			dst, unknown = append(dst, v.bytes[b]), false
			continue
		}
		dst, unknown = v.strange(dst, unknown), true
	}
	return dst
}

func (v *vocabulary) byRunes(dst []uint32, word []byte) []uint32 {
	unknown := false
	for len(word) > 0 {
		r, n := utf8.DecodeRune(word)
		id, ok := v.runes[r]
		switch {
		case ok && (r != utf8.RuneError || n > 1):
			dst, unknown = append(dst, id), false
		case v.fallback && v.spells(word[:n]):
			for _, b := range word[:n] {
				dst = append(dst, v.bytes[b])
			}
			unknown = false
		default:
			dst, unknown = v.strange(dst, unknown), true
		}
		word = word[n:]
	}
	return dst
}

// spells reports whether all of text's bytes have ids.
func (v *vocabulary) spells(text []byte) bool {
	for _, b := range text {
		if !v.known[b] {
			return false
		}
	}
	return true
}

// strange appends the unknown token, if there is one, unless it goes with the one before.
func (v *vocabulary) strange(dst []uint32, again bool) []uint32 {
	if v.unknown == nil || again && v.fuse {
		return dst
	}
	return append(dst, *v.unknown)
}

// newVocabulary reads a model. Words that merging makes one token are found by merging every token once.
func newVocabulary(m *modelEntry, byteLevel bool) (v vocabulary, err error) {
	if err := m.check(); err != nil {
		return v, err
	}
	v = vocabulary{
		byteLevel: byteLevel, words: newWordTable(len(m.Vocab)), runes: map[rune]uint32{}, fuse: m.FuseUnknown,
		fallback: m.ByteFallback, spelling: make(map[uint32]string, len(m.Vocab)),
	}
	if m.Unknown != nil {
		id, ok := m.Vocab[*m.Unknown]
		if !ok {
			return v, fmt.Errorf("%w: unk_token %q is not in the vocabulary", ErrFormat, *m.Unknown)
		}
		v.unknown = &id
	}
	if v.merges, err = m.rules(); err != nil {
		return v, err
	}
	v.symbols(m)
	v.single(m)
	return v, nil
}

// symbols notes what words begin as and what tokens stand for.
func (v *vocabulary) symbols(m *modelEntry) {
	for token, id := range m.Vocab {
		text, ok := token, true
		if v.byteLevel {
			text, ok = spelled(token)
		} else if r, n := utf8.DecodeRuneInString(token); n == len(token) && n > 0 {
			v.runes[r] = id
		}
		if !ok {
			text = token
		}
		v.spelling[id] = text
		if v.byteLevel && ok && len(text) == 1 {
			v.bytes[text[0]], v.known[text[0]] = id, true
		}
		if b, is := byteToken(token); is && !v.byteLevel {
			v.bytes[b], v.known[b] = id, true
			v.spelling[id] = string([]byte{b})
		} else if !v.byteLevel {
			v.spelling[id] = strings.ReplaceAll(text, metaspaceMark, " ")
		}
	}
}

// byteToken returns the byte of <0x00> … <0xFF>.
func byteToken(token string) (b byte, ok bool) {
	if len(token) != 6 || token[:3] != "<0x" || token[5] != '>' {
		return 0, false
	}
	_, err := fmt.Sscanf(token, "<0x%02X>", &b)
	return b, err == nil
}

// single fills words.
func (v *vocabulary) single(m *modelEntry) {
	var s scratch
	var ids []uint32
	for token, id := range m.Vocab {
		text := token
		if v.byteLevel {
			var ok bool
			if text, ok = spelled(token); !ok {
				continue
			}
		}
		if text == "" {
			continue
		}
		ids = v.pieces(ids[:0], []byte(text), &s)
		if m.IgnoreMerges || len(ids) == 1 && ids[0] == id {
			v.words.add(text, id)
		}
	}
}

// check refuses models whose ids would not be exact.
func (m *modelEntry) check() error {
	set := func(s *string) bool { return s != nil && *s != "" }
	switch {
	case m.Type != "BPE" && (m.Type != "" || len(m.Merges) == 0):
		return fmt.Errorf("%w: model %q; only BPE is known", ErrUnsupported, m.Type)
	case len(m.Vocab) == 0:
		return fmt.Errorf("%w: the vocabulary is empty", ErrFormat)
	case m.Dropout != nil && *m.Dropout != 0:
		return fmt.Errorf("%w: dropout makes ids random", ErrUnsupported)
	case set(m.Prefix), set(m.Suffix):
		return fmt.Errorf("%w: continuing_subword_prefix or end_of_word_suffix", ErrUnsupported)
	}
	seen := make(map[uint32]string, len(m.Vocab))
	for token, id := range m.Vocab {
		if other, taken := seen[id]; taken || id > maxID {
			return fmt.Errorf("%w: the id of %q is %d, the largest is %d and that of %q the same", ErrFormat, token, id,
				maxID, other)
		}
		seen[id] = token
	}
	return nil
}

const maxID = 1<<31 - 1

// rules reads the merges.
func (m *modelEntry) rules() (*merges, error) {
	out := newMerges(len(m.Merges))
	for rank, r := range m.Merges {
		left, ok1 := m.Vocab[r.left]
		right, ok2 := m.Vocab[r.right]
		token, ok3 := m.Vocab[r.left+r.right]
		if !ok1 || !ok2 || !ok3 {
			return nil, fmt.Errorf("%w: merge %d, %q with %q, is not in the vocabulary", ErrFormat, rank, r.left,
				r.right)
		}
		out.add(left, right, uint32(rank), token)
	}
	return out, nil
}
