package index

import (
	"maps"
	"slices"

	"octet/kvpool"
	"pgregory.net/rapid"
)

// model is the slow, obvious index: a set of facts for each replica, and depths by a block-by-block scan.
type model struct {
	hosts [modelHosts]modelHost
}

const modelHosts = 5

type modelHost struct {
	alive, unswept bool
	epoch          uint64
	seqs           map[uint64]bool // seen in this epoch; nil before the first
	stale          bool
	held           map[place]bool
}

func (m *model) admit(h HostID) bool {
	s := &m.hosts[h]
	if s.unswept {
		return false
	}
	if !s.alive {
		*s = modelHost{alive: true, held: map[place]bool{}}
	}
	return true
}

func (m *model) retire(h HostID) bool {
	s := &m.hosts[h]
	was := s.alive
	s.alive, s.unswept = false, s.unswept || was
	return was
}

func (m *model) apply(b Batch) Outcome {
	s := &m.hosts[b.Host]
	switch {
	case !s.alive:
		return Dead
	case s.seqs != nil && b.Epoch < s.epoch:
		return OldEpoch
	case s.seqs == nil || b.Epoch > s.epoch:
		clear(s.held)
		s.epoch, s.seqs, s.stale = b.Epoch, map[uint64]bool{}, false
	}
	last := int64(-1)
	for seq := range s.seqs {
		last = max(last, int64(seq))
	}
	if int64(b.Seq) <= last {
		return Duplicate
	}
	gap := int64(b.Seq) > last+1 && (last >= 0 || b.Seq != 1)
	s.seqs[b.Seq] = true
	s.stale = s.stale || gap
	for _, op := range b.Ops {
		m.op(b.Host, op)
	}
	if gap && s.stale {
		return Gap
	}
	return Applied
}

func (m *model) op(h HostID, op Op) {
	s := &m.hosts[h]
	for _, b := range op.Blocks {
		switch {
		case op.Tier >= Tiers:
		case op.Kind == Store:
			s.held[place{b, op.Tier}] = true
		case op.Kind == Remove:
			delete(s.held, place{b, op.Tier})
		}
	}
	if op.Kind == Clear {
		clear(s.held)
		s.stale = false
	}
	if op.Kind == Shutdown {
		m.retire(h)
	}
}

func (m *model) depth(h HostID, chain []kvpool.BlockHash) (depth uint16) {
	if !m.hosts[h].alive {
		return 0
	}
	for _, b := range chain {
		if !m.holds(h, b) {
			break
		}
		depth++
	}
	return depth
}

func (m *model) holds(h HostID, b kvpool.BlockHash) bool {
	held := m.hosts[h].held
	return held[place{b, GPU}] || held[place{b, CPU}] || held[place{b, SSD}]
}

// living returns how many distinct blocks living replicas hold, and how many each host holds.
func (m *model) living() (entries int, each [modelHosts]int) {
	union := map[kvpool.BlockHash]bool{}
	for h := range m.hosts {
		mine := map[kvpool.BlockHash]bool{}
		for p := range m.hosts[h].held {
			mine[p.block] = true
		}
		each[h] = len(mine)
		if m.hosts[h].alive {
			maps.Copy(union, mine)
		}
	}
	return len(union), each
}

// tree is a universe of cumulative hashes: each block follows another or begins a chain.
type tree struct {
	blocks  []kvpool.BlockHash
	parents []int // index of the block before; -1: none
}

func drawTree(t *rapid.T) (u tree) {
	n := rapid.IntRange(1, 24).Draw(t, "blocks")
	bushy := rapid.Bool().Draw(t, "bushy")
	var h kvpool.Hasher
	for i := range n {
		parent := i - 1
		if bushy || rapid.IntRange(0, 9).Draw(t, "fork") == 0 {
			parent = rapid.IntRange(-1, i-1).Draw(t, "parent")
		}
		before := kvpool.BlockHash(0)
		if parent >= 0 {
			before = u.blocks[parent]
		}
		u.blocks = append(u.blocks, h.Next(before, []uint32{uint32(i)}))
		u.parents = append(u.parents, parent)
	}
	return u
}

// path returns the chain that ends with block i.
func (u tree) path(i int) (chain []kvpool.BlockHash) {
	for ; i >= 0; i = u.parents[i] {
		chain = append(chain, u.blocks[i])
	}
	slices.Reverse(chain)
	return chain
}

func (u tree) drawBlock(t *rapid.T) int { return rapid.IntRange(0, len(u.blocks)-1).Draw(t, "block") }

// drawOp draws an op whose claims are true: whole stretches of a path, or some of its blocks with nothing claimed.
func (u tree) drawOp(t *rapid.T) Op {
	kinds := []OpKind{Store, Store, Store, Store, Store, Store, Remove, Remove, Remove, Remove, Clear, Shutdown, 9}
	op := Op{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Tier: rapid.SampledFrom([]Tier{GPU, GPU, CPU, SSD, Tiers}).Draw(t, "tier")}
	if op.Kind == Clear || op.Kind == Shutdown {
		if rapid.IntRange(0, 3).Draw(t, "mercy") > 0 {
			op.Kind = Store
		} else {
			return op
		}
	}
	path := u.path(u.drawBlock(t))
	from := 0
	if op.Kind == Remove || rapid.Bool().Draw(t, "part") {
		from = rapid.IntRange(0, len(path)).Draw(t, "from")
	}
	op.Blocks = path[from:]
	switch {
	case op.Kind == Remove && rapid.Bool().Draw(t, "hole") && len(op.Blocks) > 0:
		op.Blocks = op.Blocks[:1]
	case op.Kind == Remove || rapid.IntRange(0, 5).Draw(t, "loose") == 0:
		op.Blocks = shuffledPart(t, op.Blocks)
	case from == 0:
		op.RootKnown = true
	default:
		op.Parent, op.HasParent = path[from-1], true
	}
	return op
}

func shuffledPart(t *rapid.T, blocks []kvpool.BlockHash) []kvpool.BlockHash {
	if len(blocks) == 0 {
		return nil
	}
	p := rapid.Permutation(blocks).Draw(t, "order")
	return p[:rapid.IntRange(0, len(p)).Draw(t, "some")]
}
