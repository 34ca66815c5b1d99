//go:build !amd64

package wire

func marks(b []byte, blocks int, out *[batch]uint64) (high uint64) {
	return marksByWords(b, blocks, out)
}
