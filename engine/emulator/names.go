package emulator

import (
	"octet/kvpool"
	"octet/routing/events"
)

// Namer computes what an engine of another make calls its blocks.
type Namer interface {
	Root() kvpool.Digest
	// Next returns the digest of the block that holds tokens and follows parent. The salt is given with the first block
	// of a chain only.
	Next(parent *kvpool.Digest, tokens []uint32, adapter, salt string) kvpool.Digest
	Name(d *kvpool.Digest) uint64
}

// blockNames gives cached blocks the names of another make. Owned by the outbox, under postMu.
type blockNames struct {
	namer  Namer // nil: blocks keep our own names
	blocks map[uint64]*blockName
}

// blockName is one block's, by our hash of it.
type blockName struct {
	digest kvpool.Digest
	copies int
}

// rename returns changes with the names of the other make. What left the cache before it was cleared has none any more.
func (n *blockNames) rename(changes []events.Event) (out []events.Event) {
	if n.namer == nil {
		return changes
	}
	for _, e := range changes {
		switch e.Kind {
		case events.Registered:
			n.register(&e)
		case events.Evicted:
			if n.evict(&e); len(e.Hashes) == 0 {
				continue
			}
		case events.Cleared, events.Shutdown:
			n.blocks = nil
		}
		out = append(out, e)
	}
	return out
}

func (n *blockNames) register(e *events.Event) {
	if n.blocks == nil {
		n.blocks = map[uint64]*blockName{}
	}
	digest, salt := n.namer.Root(), e.Salt
	if before := n.blocks[e.Parent]; !e.Root && before != nil {
		digest, salt = before.digest, ""
		e.Parent = n.namer.Name(&digest)
	}
	names := make([]uint64, len(e.Hashes))
	for i, h := range e.Hashes {
		digest = n.namer.Next(&digest, e.Tokens[i*e.BlockSize:(i+1)*e.BlockSize], e.Adapter, salt)
		names[i], salt = n.namer.Name(&digest), ""
		if n.blocks[h] == nil {
			n.blocks[h] = &blockName{digest: digest}
		}
		n.blocks[h].copies++
	}
	e.Hashes = names
}

func (n *blockNames) evict(e *events.Event) {
	names := make([]uint64, 0, len(e.Hashes))
	for _, h := range e.Hashes {
		b := n.blocks[h]
		if b == nil {
			continue
		}
		names = append(names, n.namer.Name(&b.digest))
		if b.copies--; b.copies == 0 {
			delete(n.blocks, h)
		}
	}
	e.Hashes = names
}

// withoutTokens returns changes as an engine tells them that keeps its tokens to itself.
func withoutTokens(changes []events.Event) []events.Event {
	out := make([]events.Event, len(changes))
	for i, e := range changes {
		e.Tokens = nil
		out[i] = e
	}
	return out
}
