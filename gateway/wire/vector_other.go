//go:build !amd64

package wire

import "unicode/utf8"

func passBlocks(b []byte, i int) (at int, saw seen) { return passWords(b, i) }

func unquote(dst, raw []byte) (read, wrote int) { return unquoteByRuns(dst, raw) }

func validBlocks(b []byte, i int) bool { return utf8.Valid(b[i:]) }
