//go:build !amd64

package wire

func passBlocks(b []byte, i int) (at int, saw seen) { return passWords(b, i) }

func unquote(dst, raw []byte) (read, wrote int) { return unquoteByRuns(dst, raw) }
