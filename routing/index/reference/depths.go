package reference

import (
	"math"

	"octet/kvpool"
	"octet/routing/index"
)

// Depths implements index.Reader. It takes O(K log N) shard reads for K distinct depths and N blocks, and at most N
// with suspects, whatever the number of replicas.
//
// Replicas whose blocks are closed under "what comes before" are found by binary search. Of a suspect nothing follows
// from holding a later block, so suspects are scanned from the first block on, all in one pass, which the others share
// while it lasts. A change during a query may show in part, and may cost the query a second pass.
func (x *ShardedBlockIndexer) Depths(chain []kvpool.BlockHash, among index.HostBitmap,
	out *[index.MaxHosts]uint16) {
	if len(chain) > math.MaxUint16 {
		chain = chain[:math.MaxUint16]
	}
	*out = [index.MaxHosts]uint16{}
	among = among.And(x.Alive())
	if len(chain) == 0 || among.Empty() {
		return
	}
	q := query{x: x, chain: chain, out: out}
	q.run(among, x.suspects.Load().And(among))
	x.lookups.Add(q.lookups)
}

// query is one call of Depths.
type query struct {
	x       *ShardedBlockIndexer
	chain   []kvpool.BlockHash
	out     *[index.MaxHosts]uint16
	lookups uint64
}

// holders returns those of hosts that hold block i of the chain.
func (q *query) holders(i int, hosts index.HostBitmap) index.HostBitmap {
	q.lookups++
	b := q.chain[i]
	return q.x.shards[shardOf(b)].holders(b).And(hosts)
}

// run finds the depth of each of hosts, of which suspects were marked when the query began. A host that was marked
// since may have shown a later block without an earlier one, and is scanned in the end.
func (q *query) run(hosts, suspects index.HostBitmap) {
	clean, depth := q.scan(hosts, suspects)
	q.search(clean, depth, len(q.chain))
	if late := q.x.suspects.Load().And(hosts).AndNot(suspects); !late.Empty() {
		late, depth = q.scan(late, late)
		q.answer(late, depth)
	}
}

// scan walks the chain while a suspect is left, and answers for each host that does not hold the next block. It returns
// the hosts that are left, none of them a suspect unless the chain is at its end, and how many blocks they hold.
func (q *query) scan(hosts, suspects index.HostBitmap) (left index.HostBitmap, depth int) {
	for depth < len(q.chain) && !suspects.Empty() {
		held := q.holders(depth, hosts)
		q.answer(hosts.AndNot(held), depth)
		hosts, suspects = held, suspects.And(held)
		depth++
	}
	return hosts, depth
}

// search answers for hosts, all of them closed under "what comes before", whose depths lie within lo … hi. Groups part
// where a probe tells them apart.
func (q *query) search(hosts index.HostBitmap, lo, hi int) {
	for lo < hi && !hosts.Empty() {
		depth := q.probe(lo, hi)
		held := q.holders(depth-1, hosts)
		if held.Empty() {
			hi = depth - 1
			continue
		}
		q.search(hosts.AndNot(held), lo, depth-1)
		hosts, lo = held, depth
	}
	q.answer(hosts, lo)
}

// probe returns the depth to ask for next: the middle, but 1 once the chain's middle was missed, because most replicas
// that lack the middle of a prompt hold nothing of it.
func (q *query) probe(lo, hi int) int {
	if lo == 0 && hi < len(q.chain) {
		return 1
	}
	return (lo + hi + 1) / 2
}

// answer sets the depth of each of hosts.
func (q *query) answer(hosts index.HostBitmap, depth int) {
	for h := range hosts.All() {
		q.out[h] = uint16(depth)
	}
}
