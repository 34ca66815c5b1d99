package bpe

import (
	"sync"

	"octet/internal/poison"
)

// Tokenizer is one model's tokenizer. Safe for concurrent use.
type Tokenizer struct {
	classes    *classTable
	raw        *finder // of tokens that are looked for in the text as it is
	normalized *finder // and, in what is left, of those that are looked for once it is normalised
	normalizer normalizer
	splitter   splitter
	vocabulary vocabulary

	prefix, suffix []uint32 // around a prompt that is not a rendered chat
	spaceCuts      bool     // a text may be cut before a ' ' behind what is no white space
	rstrips        []string // added tokens that take the white space behind them along
}

// Place is where in a prompt a text begins.
type Place uint8

// The places of a text in a prompt.
const (
	Start  Place = iota // at the beginning of the prompt
	After               // right behind an added token
	Inside              // anywhere else, at a Cut
)

// scratches are used again: a scratch is one Encode's, which returns ids alone.
var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Encode appends the ids of text, which begins at a place, to dst: added tokens that stand in it become their ids
// wherever they come from, as they do in engines, which tokenize the chat after it is rendered.
func (t *Tokenizer) Encode(dst []uint32, text []byte, at Place) []uint32 {
	s := scratches.Get().(*scratch)
	defer s.release()
	for from := 0; from < len(text); at = After {
		token, start, end := t.raw.next(text, from)
		if token == nil {
			return t.segment(dst, text[from:], at, s)
		}
		start, end = t.strip(token, text, from, start, end)
		if start > from {
			dst = t.segment(dst, text[from:start], at, s)
		}
		dst = append(dst, token.id)
		from = end
	}
	return dst
}

// strip widens text[start:end], which is token's, by the white space that it takes along, back to text[from] at most.
func (t *Tokenizer) strip(token *added, text []byte, from, start, end int) (int, int) {
	for token.lstrip && start > from && t.classes.before(text[:start], start)&space != 0 {
		start--
		for start > from && text[start]&0xC0 == 0x80 {
			start--
		}
	}
	if token.rstrip {
		end = t.classes.run(text, end, space)
	}
	return start, end
}

// segment encodes a text in which no raw added token is.
func (t *Tokenizer) segment(dst []uint32, text []byte, at Place, s *scratch) []uint32 {
	if len(t.normalizer.steps) > 0 {
		text = t.normalizer.apply(&s.text, text, at == Inside)
	}
	for from := 0; from < len(text); at = After {
		token, start, end := t.normalized.next(text, from)
		if token == nil {
			return t.splitter.encode(dst, text[from:], at, &t.vocabulary, s)
		}
		start, end = t.strip(token, text, from, start, end)
		if start > from {
			dst = t.splitter.encode(dst, text[from:start], at, &t.vocabulary, s)
		}
		dst = append(dst, token.id)
		from = end
	}
	return dst
}

// maxScratch is the most symbols of a word whose memory is kept for the next one.
const maxScratch = 1 << 16

// release gives s back, without what an unusual text has swollen.
func (s *scratch) release() {
	if cap(s.rules) > maxScratch || cap(s.text) > maxScratch {
		*s = scratch{}
	}
	poison.Words(s.rules)
	poison.Bytes(s.text)
	poison.Values(s.stretches)
	scratches.Put(s)
}

// Around returns the ids that stand before and behind a prompt that is not a rendered chat, such as a <s>. Read-only.
func (t *Tokenizer) Around() (prefix, suffix []uint32) { return t.prefix, t.suffix }

// Plain returns a tokenizer to which special tokens in a text are text.
func (t *Tokenizer) Plain() (*Tokenizer, error) {
	plain := *t
	for _, f := range []**finder{&plain.raw, &plain.normalized} {
		if *f == nil {
			continue
		}
		var kept []added
		for _, a := range (*f).tokens {
			if !a.special {
				kept = append(kept, a)
			}
		}
		var err error
		if *f, err = newFinder(kept); err != nil {
			return nil, err
		}
	}
	return &plain, nil
}

// Spelling returns the bytes that a token stands for, and false for an unknown id. The bytes of the ids of a text,
// put together, are the text where the tokenizer is byte-level and normalises nothing. Read-only.
func (t *Tokenizer) Spelling(id uint32) (string, bool) {
	s, ok := t.vocabulary.spelling[id]
	return s, ok
}

// Size returns how many tokens there are.
func (t *Tokenizer) Size() int { return len(t.vocabulary.spelling) }
