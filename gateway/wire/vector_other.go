//go:build !amd64

package wire

import "unicode/utf8"

// pass reads the inside of a string from b[i] on: over plain bytes and escapes, to the first byte that is neither. That
// is a quote, a control character, the backslash of a bad escape or of a lone surrogate, or the end of b.
func pass(b []byte, i int) (at int, saw seen) { return passWords(b, i) }

func unquote(dst, raw []byte) (read, wrote int) { return unquoteByRuns(dst, raw) }

func validBlocks(b []byte, i int) bool { return utf8.Valid(b[i:]) }
