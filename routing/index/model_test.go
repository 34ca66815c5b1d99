package index_test

import (
	"maps"
	"slices"

	"octet/kvpool"
	"octet/routing/index"
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

func (m *model) admit(h index.HostID) bool {
	s := &m.hosts[h]
	if s.unswept {
		return false
	}
	if !s.alive {
		*s = modelHost{alive: true, held: map[place]bool{}}
	}
	return true
}

func (m *model) retire(h index.HostID) bool {
	s := &m.hosts[h]
	was := s.alive
	s.alive, s.unswept = false, s.unswept || was
	return was
}

func (m *model) apply(b index.Batch) index.Outcome {
	s := &m.hosts[b.Host]
	switch {
	case !s.alive:
		return index.Dead
	case s.seqs != nil && b.Epoch < s.epoch:
		return index.OldEpoch
	case s.seqs == nil || b.Epoch > s.epoch:
		clear(s.held)
		s.epoch, s.seqs, s.stale = b.Epoch, map[uint64]bool{}, false
	}
	last := int64(-1)
	for seq := range s.seqs {
		last = max(last, int64(seq))
	}
	if int64(b.Seq) <= last {
		return index.Duplicate
	}
	gap := int64(b.Seq) > last+1 && (last >= 0 || b.Seq != 1)
	s.seqs[b.Seq] = true
	s.stale = s.stale || gap
	for _, op := range b.Ops {
		m.op(b.Host, op)
	}
	if gap && s.stale {
		return index.Gap
	}
	return index.Applied
}

func (m *model) op(h index.HostID, op index.Op) {
	s := &m.hosts[h]
	for _, b := range op.Blocks {
		switch {
		case op.Tier >= index.Tiers:
		case op.Kind == index.Store:
			s.held[place{b, op.Tier}] = true
		case op.Kind == index.Remove:
			delete(s.held, place{b, op.Tier})
		}
	}
	if op.Kind == index.Clear || op.Kind == index.Forget {
		clear(s.held)
	}
	if op.Kind == index.Clear || op.Kind == index.Fresh {
		s.stale = false
	}
	if op.Kind == index.Shutdown {
		m.retire(h)
	}
}

func (m *model) depth(h index.HostID, chain []kvpool.BlockHash) (depth uint16) {
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

func (m *model) holds(h index.HostID, b kvpool.BlockHash) bool {
	held := m.hosts[h].held
	return held[place{b, index.GPU}] || held[place{b, index.CPU}] || held[place{b, index.SSD}]
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

// dice answers with a number in [0, n): rapid's, which shrink, or a plain generator's, which are even.
type dice func(n int) int

func growTree(roll dice) (u tree) {
	n, bushy := 1+roll(24), roll(2) == 0
	var h kvpool.Hasher
	for i := range n {
		parent := i - 1
		if bushy || roll(10) == 0 {
			parent = roll(i+1) - 1
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

// op makes an op whose claims are true: a stretch of a path, or some blocks of one with nothing claimed.
func (u tree) op(roll dice) index.Op {
	tiers := [...]index.Tier{index.GPU, index.GPU, index.GPU, index.GPU, index.CPU, index.SSD, index.Tiers}
	op := index.Op{Tier: tiers[roll(len(tiers))]}
	switch kind := roll(62); {
	case kind >= 60:
		return index.Op{Kind: index.Forget + index.OpKind(kind-60), Blocks: u.some(roll)}
	case kind == 59:
		return index.Op{Kind: index.Shutdown}
	case kind >= 56:
		return index.Op{Kind: index.Clear}
	case kind == 55:
		op.Kind = 9
	case kind >= 30:
		op.Kind = index.Remove
		op.Blocks = u.some(roll)
		return op
	}
	path := u.path(roll(len(u.blocks)))
	from := roll(2) * roll(len(path))
	switch op.Blocks = path[from:]; {
	case roll(6) == 0:
		op.Blocks = u.some(roll)
	case from == 0:
		op.RootKnown = true
	default:
		op.Parent, op.HasParent = path[from-1], true
	}
	return op
}

// some returns one block, the end of a path, or any blocks of it in any order.
func (u tree) some(roll dice) []kvpool.BlockHash {
	path := u.path(roll(len(u.blocks)))
	switch from := roll(len(path)); roll(3) {
	case 0:
		return path[from : from+1]
	case 1:
		return path[from:]
	}
	for i := range path {
		j := i + roll(len(path)-i)
		path[i], path[j] = path[j], path[i]
	}
	return path[:roll(len(path)+1)]
}
