package model

// FNV-1a over bytes, then a finisher: words are short, and hashed while they are read.
const (
	offset64 = 14695981039346656037
	prime64  = 1099511628211
)

func mix(h uint64, b byte) uint64 { return (h ^ uint64(b)) * prime64 }

// finish spreads the bits of h; it is never 0.
func finish(h uint64) uint64 {
	h ^= h >> 29
	h *= 0xBF58476D1CE4E5B9
	h ^= h >> 32
	return h | 1<<63
}

func hashOf(word string) uint64 {
	h := uint64(offset64)
	for i := range len(word) {
		h = mix(h, word[i])
	}
	return finish(h)
}

// pair is the hash of two neighbours.
func pair(a, b uint64) uint64 { return finish(a*0x9E3779B97F4A7C15 + b) }

// The kinds of features: the same bytes as a whole word, a part, or a pair are three features.
const (
	ofWord = 0x9E3779B97F4A7C15
	ofPart = 0xC2B2AE3D27D4EB4F
	ofPair = 0x165667B19E3779F9
)

// key is the 32 bits by which a feature is known.
func key(hash, kind uint64) uint32 { return uint32(finish(hash^kind) >> 16) }
