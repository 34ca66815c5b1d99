package events

import (
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"

	"octet/kvpool"
	"octet/routing/index"
)

// simEngine is an engine's cache as it really is: physical copies of blocks, with names of the engine's own, and no
// memory of anything else. It publishes what it does.
type simEngine struct {
	rng       *rand.Rand
	name      string
	blockSize int
	epoch     uint64
	seq       uint64
	blocks    map[uint64]*simBlock // all of this epoch since the last clear
	names     []uint64             // of blocks, in order of appearance, so that choices repeat with the seed
}

// simBlock is a block and everything before it.
type simBlock struct {
	name          uint64
	adapter, salt string
	tokens        []uint32 // from the chain's start
	copies        [index.Tiers]int
}

func newSimEngine(seed uint64, name string, blockSize int) *simEngine {
	return &simEngine{
		rng: rand.New(rand.NewPCG(seed, 7)), name: name, blockSize: blockSize, epoch: 1, blocks: map[uint64]*simBlock{},
	}
}

// step does something, and returns what it publishes.
func (s *simEngine) step() Batch {
	if s.rng.IntN(200) == 0 {
		s.epoch, s.seq = s.epoch+1+s.rng.Uint64N(3), 0
		s.forget()
	}
	s.seq++
	b := Batch{Replica: s.name, Epoch: s.epoch, Seq: s.seq}
	for range 1 + s.rng.IntN(3) {
		b.Events = append(b.Events, s.act())
	}
	return b
}

func (s *simEngine) act() Event {
	switch n := s.rng.IntN(100); {
	case n == 0:
		s.forget()
		return Event{Kind: Cleared}
	case n < 45 && len(s.names) > 0:
		return s.evict()
	case n < 60 && len(s.names) > 0:
		return s.offload()
	default:
		return s.compute()
	}
}

func (s *simEngine) forget() { s.blocks, s.names = map[uint64]*simBlock{}, nil }

// compute puts some blocks after another one, or at a chain's start. Few distinct tokens make the same blocks come
// often.
func (s *simEngine) compute() Event {
	e := Event{Kind: Registered, Tier: s.tier(), BlockSize: s.blockSize}
	at := &simBlock{adapter: [...]string{"", "gdb"}[s.rng.IntN(2)], salt: [...]string{"", "acme"}[s.rng.IntN(2)]}
	e.Root = true
	if len(s.names) > 0 && s.rng.IntN(3) > 0 {
		at = s.any()
		e.Root, e.Parent = false, at.name
	}
	e.Adapter, e.Salt = at.adapter, at.salt
	for range 1 + s.rng.IntN(4) {
		at = s.follow(at)
		at.copies[e.Tier]++
		e.Hashes = append(e.Hashes, at.name)
		e.Tokens = append(e.Tokens, at.tokens[len(at.tokens)-s.blockSize:]...)
	}
	return e
}

// follow returns the block after p that begins with a random token.
func (s *simEngine) follow(p *simBlock) *simBlock {
	tokens := append([]uint32(nil), p.tokens...)
	first := s.rng.Uint32N(3)
	for i := range s.blockSize {
		tokens = append(tokens, first+uint32(i))
	}
	name := engineName(p.adapter, p.salt, tokens)
	b := s.blocks[name]
	if b == nil {
		b = &simBlock{name: name, adapter: p.adapter, salt: p.salt, tokens: tokens}
		s.blocks[name] = b
		s.names = append(s.names, name)
	}
	return b
}

// engineName is the engine's own hash: nothing like ours.
func engineName(adapter, salt string, tokens []uint32) uint64 {
	h := fnv.New64a()
	h.Write([]byte(adapter + "|" + salt + "|"))
	for _, t := range tokens {
		h.Write(binary.LittleEndian.AppendUint32(nil, t))
	}
	return h.Sum64()
}

// offload copies a block to a slower tier, and names it by its hash alone.
func (s *simEngine) offload() Event {
	b := s.any()
	t := index.Tier(1 + s.rng.IntN(index.Tiers-1))
	b.copies[t]++
	return Event{Kind: Registered, Tier: t, Adapter: b.adapter, Salt: b.salt, Hashes: []uint64{b.name}}
}

// evict takes one copy of some blocks, or of one that has none: engines are not to be trusted.
func (s *simEngine) evict() Event {
	e := Event{Kind: Evicted, Tier: s.tier()}
	for range 1 + s.rng.IntN(4) {
		b := s.any()
		b.copies[e.Tier] = max(b.copies[e.Tier]-1, 0)
		e.Hashes = append(e.Hashes, b.name)
	}
	return e
}

func (s *simEngine) any() *simBlock { return s.blocks[s.names[s.rng.IntN(len(s.names))]] }

func (s *simEngine) tier() index.Tier { return index.Tier(max(0, s.rng.IntN(5)-2)) }

// truth returns what the engine really holds, in our terms: the slow and obvious way.
func (s *simEngine) truth(to Target, hasher kvpool.Hasher) map[fact]bool {
	held := map[fact]bool{}
	for _, b := range s.blocks {
		chain := hasher.Chain(nil, hasher.Root(to.Specialist, b.adapter, b.salt), b.tokens, to.BlockSize)
		for t, n := range b.copies {
			for _, h := range chain[len(chain)-s.blockSize/to.BlockSize:] {
				if n > 0 {
					held[fact{h, index.Tier(t)}] = true
				}
			}
		}
	}
	return held
}

// depth returns how many leading blocks of chain are held in any tier: the slow and obvious way.
func depth(held map[fact]bool, chain []kvpool.BlockHash) uint16 {
	for i, b := range chain {
		if !held[fact{b, index.GPU}] && !held[fact{b, index.CPU}] && !held[fact{b, index.SSD}] {
			return uint16(i)
		}
	}
	return uint16(len(chain))
}

// fact is one block in one tier.
type fact struct {
	block kvpool.BlockHash
	tier  index.Tier
}

// shadow is an Applier that is too simple to be wrong, in front of another one.
type shadow struct {
	next    Applier
	held    map[index.HostID]map[fact]bool
	follows map[kvpool.BlockHash]kvpool.BlockHash // what each stored block was said to follow; 0 begins a chain
	batches []index.Batch                         // the heads only
}

func newShadow(next Applier) *shadow {
	return &shadow{next: next, held: map[index.HostID]map[fact]bool{}, follows: map[kvpool.BlockHash]kvpool.BlockHash{}}
}

func (s *shadow) Apply(b index.Batch) index.Outcome {
	out := s.next.Apply(b)
	s.batches = append(s.batches, index.Batch{Host: b.Host, Epoch: b.Epoch, Seq: b.Seq})
	if n := len(s.batches); n < 2 || s.batches[n-2].Epoch != b.Epoch || s.held[b.Host] == nil {
		s.held[b.Host] = map[fact]bool{}
	}
	for _, op := range b.Ops {
		s.carryOut(s.held[b.Host], op)
	}
	return out
}

func (s *shadow) Resync(id index.HostID, epoch, seq uint64, held []index.TierBlocks) index.Outcome {
	out := s.next.Resync(id, epoch, seq, held)
	if out != index.Applied {
		return out
	}
	s.held[id] = map[fact]bool{}
	for _, t := range held {
		s.carryOut(s.held[id], index.Op{Tier: t.Tier, Blocks: t.Blocks, Parent: t.Parent, HasParent: t.HasParent})
	}
	s.batches = append(s.batches, index.Batch{Host: id, Epoch: epoch, Seq: seq})
	return out
}

func (s *shadow) Stale() index.HostBitmap { return s.next.Stale() }

func (s *shadow) carryOut(held map[fact]bool, op index.Op) {
	if op.Kind == index.Clear || op.Kind == index.Shutdown || op.Kind == index.Forget {
		clear(held)
	}
	if op.Kind != index.Store && op.Kind != index.Remove {
		return
	}
	before := op.Parent
	for _, b := range op.Blocks {
		if op.Kind == index.Store {
			held[fact{b, op.Tier}] = true
			s.follows[b], before = before, b
		} else {
			delete(held, fact{b, op.Tier})
		}
	}
}
