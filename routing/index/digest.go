package index

import "octet/kvpool"

// Golden is 2^64/φ: multiplying by it and keeping the high bits spreads chained hashes (Fibonacci hashing, Knuth 6.4).
const Golden = 0x9E3779B97F4A7C15

// Salt tells the facts of slot h from those of other slots in a Digest.
func Salt(h HostID) uint64 { return FactDigest(Golden, kvpool.BlockHash(h), 0) }

// FactDigest is the share of one fact in a Digest: a well mixed function of (host, block, tier). salt is the host's.
func FactDigest(salt uint64, b kvpool.BlockHash, tier Tier) uint64 {
	z := uint64(b) + salt + uint64(tier)*0xD6E8FEB86659FD93
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
