package engine

import "github.com/zeebo/xxh3"

const (
	pieceMax  = 8   // bytes; longer runs are cut, so a token's cost and a text's token count are bounded
	digitsMax = 3   // a number is read in groups, as GPT pre-tokenizers do
	markMax   = 192 // bytes of a mark with its brackets; longer ones are ordinary text
)

// Tokenize appends the token ids of text to dst. Linear, and free of allocation when dst has room; C++ code comes to
// about 4 bytes a token. A token is a hash of its piece, so ids need no vocabulary and cannot be turned back into text.
func Tokenize(dst []uint32, text []byte) []uint32 {
	for len(text) > 0 {
		n := Piece(text)
		dst = append(dst, TokenID(text[:n]))
		text = text[n:]
	}
	return dst
}

// TokenID returns the id of one piece: its xxh3 folded to 31 bits.
func TokenID(piece []byte) uint32 {
	h := xxh3.Hash(piece)
	return uint32(h^h>>32) & 0x7fffffff
}

// Piece returns the length in bytes of the first piece of text, which must not be empty. The pieces are those of a GPT
// pre-tokenizer: letters or punctuation with an optional space before them, up to three digits, or white space, of
// which the last space goes with the word that follows. No piece but a mark is longer than 8 bytes; UTF-8 sequences may
// be cut.
//
// A mark is ⟦…⟧ without white space or another ⟦ inside. It is one piece whatever its length, so that text
// which an emulated engine generated comes back as the very tokens that it was generated as.
func Piece(text []byte) int {
	switch first := text[0]; classes[first] {
	case digit:
		return run(text, 0, digit, digitsMax)
	case space:
		return spacePiece(text)
	case letter:
		if n := mark(text); n > 0 {
			return n
		}
		return run(text, 0, letter, pieceMax)
	default:
		return run(text, 0, punct, pieceMax)
	}
}

// spacePiece is Piece for a text that begins with white space.
func spacePiece(text []byte) int {
	if text[0] == ' ' && joins(text[1:]) {
		return run(text, 1, classes[text[1]], pieceMax)
	}
	n := run(text, 0, space, pieceMax)
	if text[n-1] == ' ' && joins(text[n:]) {
		return n - 1
	}
	return n
}

// joins returns true if a space right before text belongs to text's first piece.
func joins(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	c := classes[text[0]]
	return c == punct || c == letter && !opensMark(text)
}

// run returns the end, at most limit, of the stretch of class c that begins at text[from], which is of that class.
// A letter run ends before a ⟦.
func run(text []byte, from int, c class, limit int) int {
	end := min(len(text), limit)
	n := from + 1
	for n < end && classes[text[n]] == c && (text[n] != markOpen[0] || !opensMark(text[n:])) {
		n++
	}
	return n
}

const markOpen, markClose = "⟦", "⟧"

func opensMark(text []byte) bool { return len(text) >= 3 && string(text[:3]) == markOpen }

// mark returns the length of the mark that text begins with; 0 when it begins with none.
func mark(text []byte) int {
	if !opensMark(text) {
		return 0
	}
	text = text[:min(len(text), markMax)]
	for n := len(markOpen); n+len(markClose) <= len(text); n++ {
		switch {
		case string(text[n:n+len(markClose)]) == markClose:
			return n + len(markClose)
		case classes[text[n]] == space || opensMark(text[n:]):
			return 0
		}
	}
	return 0
}

// class is what a byte is to the tokenizer.
type class uint8

const (
	punct class = iota
	letter
	digit
	space
)

// classes tells the class of each byte. Underscores and all bytes beyond ASCII are letters.
var classes = func() (t [256]class) {
	for b := range t {
		switch c := byte(b); {
		case c == '_', c >= 0x80, 'a' <= c|0x20 && c|0x20 <= 'z':
			t[b] = letter
		case '0' <= c && c <= '9':
			t[b] = digit
		case c == ' ', '\t' <= c && c <= '\r':
			t[b] = space
		}
	}
	return t
}()
