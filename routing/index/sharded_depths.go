package index

import (
	"math"

	"octet/kvpool"
)

// Depths sets out[h] to the number of leading blocks of chain that replica h holds, for each living h in among, and to
// 0 for everybody else. It equals a block-by-block scan for any content that came with true claims (see Op). It takes
// O(K log N) shard reads for K distinct depths and N blocks, and at most N, whatever the number of replicas, and
// allocates nothing. Blocks after the 65,535th do not count.
//
// Replicas whose blocks are closed under "what comes before" are searched by halving. Of a suspect nothing follows from
// holding a later block, so suspects are scanned from the first block on, all in one pass, which the others share while
// it lasts. A change that meets a running query may show in part, and may cost it a second pass.
func (x *ShardedBlockIndexer) Depths(chain []kvpool.BlockHash, among HostBitmap, out *[MaxHosts]uint16) {
	if len(chain) > math.MaxUint16 {
		chain = chain[:math.MaxUint16]
	}
	*out = [MaxHosts]uint16{}
	among = among.And(x.alive.load())
	if len(chain) == 0 || among.Empty() {
		return
	}
	s := search{x: x, chain: chain, out: out}
	s.settle(among, x.suspects.load().And(among))
	x.lookups.add(shardOf(chain[0]), s.lookups)
}

// search is one query.
type search struct {
	x       *ShardedBlockIndexer
	chain   []kvpool.BlockHash
	out     *[MaxHosts]uint16
	lookups int
}

// holders returns who of hosts holds block i of the chain.
func (s *search) holders(i int, hosts HostBitmap) HostBitmap {
	s.lookups++
	b := s.chain[i]
	return s.x.shards[shardOf(b)].holders(b).And(hosts)
}

// settle finds the depth of each of hosts, of which suspects were in doubt when the query began. Whoever came into
// doubt since may have shown a later block without an earlier one, and is scanned in the end.
func (s *search) settle(hosts, suspects HostBitmap) {
	clean, depth := s.scan(hosts, suspects)
	s.halve(clean, depth)
	if late := s.x.suspects.load().And(hosts).AndNot(suspects); !late.Empty() {
		late, depth = s.scan(late, late)
		late.assign(s.out, uint16(depth))
	}
}

// scan walks the chain while a suspect is left and settles whoever drops out. It returns who is left, none of them a
// suspect unless the chain is at its end, and how many blocks they are known to hold.
func (s *search) scan(hosts, suspects HostBitmap) (left HostBitmap, depth int) {
	for depth < len(s.chain) && !suspects.Empty() {
		held := s.holders(depth, hosts)
		hosts.AndNot(held).assign(s.out, uint16(depth))
		hosts, suspects = held, suspects.And(held)
		depth++
	}
	return hosts, depth
}

// span is a group of hosts whose depth lies within lo … hi.
type span struct {
	hosts  HostBitmap
	lo, hi int
}

// halve settles hosts, all of them closed under "what comes before" and known to hold lo blocks. Groups split where a
// probe tells them apart. One waits while the other goes on with half the span, which bounds the stack.
func (s *search) halve(hosts HostBitmap, lo int) {
	var stack [18]span
	stack[0] = span{hosts, lo, len(s.chain)}
	for top := 1; top > 0; {
		top--
		g := stack[top]
		for g.lo < g.hi && !g.hosts.Empty() {
			depth := s.probe(g)
			held := s.holders(depth-1, g.hosts)
			switch missing := g.hosts.AndNot(held); {
			case held.Empty():
				g.hi = depth - 1
			case missing.Empty():
				g.lo = depth
			default:
				stack[top] = span{missing, g.lo, depth - 1}
				top++
				g.hosts, g.lo = held, depth
			}
		}
		g.hosts.assign(s.out, uint16(g.lo))
	}
}

// probe picks the depth to ask g for next: the middle, but 1 once the chain's middle is missed, because most replicas
// that lack the middle of a prompt hold nothing of it.
func (s *search) probe(g span) int {
	if g.lo == 0 && g.hi < len(s.chain) {
		return 1
	}
	return (g.lo + g.hi + 1) / 2
}

// assign sets out[h] to depth for each h in b.
func (b HostBitmap) assign(out *[MaxHosts]uint16, depth uint16) {
	for h := range b.All() {
		out[h] = depth
	}
}
