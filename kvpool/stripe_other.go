//go:build !amd64

package kvpool

func (k *keys) chain(dst []BlockHash, parent BlockHash, all [][stripe]byte) {
	k.chainByWords(dst, parent, all)
}
