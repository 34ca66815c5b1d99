//go:build !amd64

package wire

func unquoteBlocks(dst, raw []byte, blocks int) (read, wrote int) {
	return unquoteByWords(dst, raw, blocks)
}

func marks(b []byte, blocks int, out *[batch]uint64) (high uint64) {
	return marksByWords(b, blocks, out)
}
