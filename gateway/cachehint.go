package gateway

import (
	"octet/engine"
	"octet/routing/index"
)

// cacheHint is the header that tells an engine what it is believed to hold of the prompt that comes with it, so that it can
// fetch in time what lies in a slower tier: "blocks=12, gpu=10, cpu=2, tokens=192". Tiers that hold none are left out, and so
// is the whole header where nothing is held. Blocks that were routed there and of which no event has told yet are in no tier.
const cacheHint = "X-Octet-Cache-Hint"

// InTiers is how many of a prompt's leading blocks a replica holds in each tier, by the fastest that has them.
type InTiers [index.Tiers]int

// hint adds what the replica is believed to hold. It asks the index for this one replica, and only where there is a hit.
func (x *exchange) hint(hop *Hop) {
	if x.route == nil || hop.NoPlace || x.base() > 0 {
		return
	}
	tokens := x.predict(hop.Replica.Host)
	if tokens == 0 {
		return
	}
	blocks := tokens / x.sp.BlockSize
	var held InTiers
	if x.sp.Tiers != nil {
		held = x.sp.Tiers(x.route.View(), hop.Replica.Host, blocks)
	}
	if hop.Fields == nil {
		hop.Fields = hop.room[:0]
	}
	hop.Fields = append(hop.Fields, engine.Field{Name: cacheHint, Value: hintValue(blocks, tokens, held)})
}

func hintValue(blocks, tokens int, held InTiers) string {
	var room [136]byte // filled from its end
	at := putNumber(&room, len(room), tokens)
	at -= copy(room[at-len(", tokens="):at], ", tokens=")
	for tier := len(held) - 1; tier >= 0; tier-- {
		if held[tier] > 0 {
			name := index.Tier(tier).String()
			at = putNumber(&room, at, held[tier]) - 1
			room[at] = '='
			at -= copy(room[at-len(name):at], name)
			at -= copy(room[at-len(", "):at], ", ")
		}
	}
	at = putNumber(&room, at, blocks)
	at -= copy(room[at-len("blocks="):at], "blocks=")
	return string(room[at:])
}

// putNumber writes n, which is not negative, right before room[end], and returns where it begins.
func putNumber(room *[136]byte, end, n int) int {
	for {
		end--
		room[end] = byte('0' + n%10)
		if n /= 10; n == 0 {
			return end
		}
	}
}
