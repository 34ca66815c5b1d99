package enginehash

import "encoding/binary"

// The major types of CBOR (RFC 8949) that are written here, in their canonical form: every number in the fewest bytes.
const (
	cborUint  = 0 << 5
	cborBytes = 2 << 5
	cborUTF8  = 3 << 5
	cborArray = 4 << 5
	cborNull  = 0xf6
)

// cborHead writes a number of a major type.
func cborHead(out []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(out, major|byte(n))
	case n < 1<<8:
		return append(out, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(out, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(out, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(out, major|27), n)
}

func cborText(out []byte, text string) []byte {
	return append(cborHead(out, cborUTF8, uint64(len(text))), text...)
}

// cborBlock writes [parent, [tokens], [adapter, salt] or null].
func cborBlock(out, parent []byte, tokens []uint32, adapter, salt string) []byte {
	out = cborHead(out, cborArray, 3)
	out = append(cborHead(out, cborBytes, uint64(len(parent))), parent...)
	out = cborHead(out, cborArray, uint64(len(tokens)))
	for _, t := range tokens {
		out = cborHead(out, cborUint, uint64(t))
	}
	n := names(adapter, salt)
	if n == 0 {
		return append(out, cborNull)
	}
	out = cborHead(out, cborArray, uint64(n))
	if adapter != "" {
		out = cborText(out, adapter)
	}
	if salt != "" {
		out = cborText(out, salt)
	}
	return out
}

// names counts the extra keys.
func names(adapter, salt string) (n int) {
	if adapter != "" {
		n++
	}
	if salt != "" {
		n++
	}
	return n
}
