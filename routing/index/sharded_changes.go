package index

import "octet/kvpool"

// keepChanges is how many changes a host's buffer holds on to between batches; larger ones are given back.
const keepChanges = 1 << 14

// change is one bit to set or clear in the index.
type change struct {
	block kvpool.BlockHash
	next  int32 // the next change of the same shard, -1 at the end
	held  bool
}

// changes gathers what a batch changes, so that each shard is locked once for all its blocks.
type changes struct {
	list []change
	head [Shards]int32 // first change of each shard; all -1 between batches
}

func newChanges() *changes {
	c := &changes{}
	for i := range c.head {
		c.head[i] = -1
	}
	return c
}

func (c *changes) add(b kvpool.BlockHash, held bool) {
	c.list = append(c.list, change{block: b, held: held})
}

// flush carries the gathered changes out, in the order in which they were added within each shard, and forgets them.
func (c *changes) flush(x *ShardedBlockIndexer, host HostID) {
	for i := len(c.list) - 1; i >= 0; i-- {
		first := &c.head[shardOf(c.list[i].block)]
		c.list[i].next, *first = *first, int32(i)
	}
	for i := range c.list {
		at := shardOf(c.list[i].block)
		if first := c.head[at]; first >= 0 {
			c.head[at] = -1
			x.shards[at].write(host, c.list, first, &x.alive)
		}
	}
	if c.list = c.list[:0]; cap(c.list) > keepChanges {
		c.list = nil
	}
}
