package wire

import (
	"unicode/utf8"

	"golang.org/x/sys/cpu"
)

// hasAVX2 and hasAVX512 say which of the assembly routines this machine can run.
var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512VBMI2 && cpu.X86.HasPOPCNT
)

// tables are what may stand behind a backslash by itself, each in the place of its last bits: twice in 64 places,
// without and with the backslash and both without \/ and \b, and all in 128, where elsewhere is what no byte of the
// place is. The last 128 have their highest bit set for the bytes that stand by themselves.
var tables = func() (t [384]byte) {
	place(t[:64], `"fnrt`)
	place(t[64:128], `"\fnrt`)
	place(t[128:256], `"\/bfnrt`)
	for ch := ' '; ch < utf8.RuneSelf; ch++ {
		if ch != '"' && ch != '\\' {
			t[256+ch] = 0x80
		}
	}
	return t
}()

func place(table []byte, letters string) {
	for i := range table {
		table[i] = ^byte(i)
	}
	for _, ch := range []byte(letters) {
		table[int(ch)%len(table)] = ch
	}
}

// passAVX512 is pass for the n bytes at p; saw holds the bits of seen. It reads no byte beyond them.
//
//go:noescape
func passAVX512(p *byte, n int, tables *[384]byte) (at int, saw uint64)

// passAVX2 is passAVX512 for so many blocks, one at least, and stops at every hexadecimal escape. It stops within the
// blocks, or where the next it would read is not whole.
//
//go:noescape
func passAVX2(p *byte, blocks int) (at int, saw uint64)

// pass reads the inside of a string from b[i] on: over plain bytes and escapes, to the first byte that is neither. That
// is a quote, a control character, the backslash of a bad escape or of a lone surrogate, or the end of b.
func pass(b []byte, i int) (at int, saw seen) {
	switch {
	case len(b)-i < block/2 || !hasAVX2:
		return passWords(b, i)
	case hasAVX512:
		n, bits := passAVX512(&b[i], len(b)-i, &tables)
		return i + n, seen(bits)
	}
	return passInTurns(b, i)
}

// passInTurns is pass by passAVX2, and by words over what that does not know: hexadecimal escapes and what is close
// behind them, and the last bytes.
func passInTurns(b []byte, i int) (at int, saw seen) {
	for {
		if blocks := (len(b) - i) / block; blocks > 0 {
			n, bits := passAVX2(&b[i], blocks)
			i += n
			saw |= seen(bits)
		}
		near := min(i+block, len(b))
		at, more := passWords(b[:near], i)
		saw |= more
		if near == len(b) || at+longestEscape <= near {
			return at, saw
		}
		i = at
	}
}

// unquoteAVX512 writes to dst what the n bytes at src stand for, up to an escape that is not of one letter. It reads no
// byte beyond them, and writes up to a block more than it says.
//
//go:noescape
func unquoteAVX512(dst, src *byte, n int) (read, wrote int)

// unquoteAVX2 is unquoteAVX512 for so many blocks from src on, one at least. It reads a block beyond these.
//
//go:noescape
func unquoteAVX2(dst, src *byte, blocks int, plain *[256]byte) (read, wrote int)

// unquote writes to dst, which has room for a block more than raw, what raw stands for, up to an escape that is not of
// one letter.
func unquote(dst, raw []byte) (read, wrote int) {
	if len(raw) == 0 {
		return 0, 0
	}
	_ = dst[len(raw)+block-1]
	if hasAVX512 {
		return unquoteAVX512(&dst[0], &raw[0], len(raw))
	}
	if hasAVX2 && len(raw) >= 2*block {
		read, wrote = unquoteAVX2(&dst[0], &raw[0], len(raw)/block-1, &escapes)
	}
	r, w := unquoteByRuns(dst[wrote:], raw[read:])
	return read + r, wrote + w
}

// validAVX512 judges the bytes at p as UTF-8, n of them, a block at least, but for a rune cut off at their end. The
// three bytes before p must be the end of valid UTF-8.
//
//go:noescape
func validAVX512(p *byte, n int) bool

// validAVX2 is validAVX512, of half a block at least.
//
//go:noescape
func validAVX2(p *byte, n int) bool

func validBlocks(b []byte, i int) bool {
	_, _ = b[i-3], b[i+block-1]
	switch {
	case hasAVX512:
		return validAVX512(&b[i], len(b)-i)
	case hasAVX2:
		return validAVX2(&b[i], len(b)-i)
	}
	return utf8.Valid(b[i:])
}
