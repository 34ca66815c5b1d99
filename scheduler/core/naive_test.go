package core

import (
	"cmp"
	"fmt"
	"slices"

	"octet/kvpool"
	"octet/scheduler"
	slow "octet/scheduler/internal/naive"
)

// naive is the Core as one would write it without thinking of speed: everything is sorted anew, what-ifs are tried on a
// copy, and the pool is a list and two maps.
type naive struct {
	*slow.Pool
	cfg     Config
	live    []*simple
	turns   []string // adapters that run, next one first
	batch   []naiveItem
	preempt int // in this step
	now     scheduler.Time
	host    int64
	saved   []*simple // in this step
	lanes   map[int]*naiveLane
}

type simple struct {
	Request
	prompt   int
	tokens   []uint32
	table    []kvpool.BlockID
	computed int
	held     int
	running  bool

	level, gaveWay, kept int
	host                 int64
	admitted, restoring  bool
	fresh, left          bool // started, or gave way, in this step
}

// naiveItem is what of an Item is compared.
type naiveItem struct {
	ID       uint64
	Mode     Mode
	Start, N int
	Draft    int
	Samples  bool
	Table    string
}

func newNaive(cfg Config) *naive {
	cfg = cfg.filled()
	return &naive{Pool: slow.NewPool(cfg.Blocks, cfg.BlockSize, cfg.Seed), cfg: cfg, lanes: map[int]*naiveLane{}}
}

func (m *naive) clone() *naive {
	c := newNaive(m.cfg)
	c.Pool = m.Pool.Clone()
	for _, s := range m.live {
		t := *s
		t.table = slices.Clone(s.table)
		c.live = append(c.live, &t)
	}
	c.turns = slices.Clone(m.turns)
	c.host = m.host
	return c
}

func (m *naive) sorted(running bool) (list []*simple) {
	for _, s := range m.live {
		if s.running == running {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *simple) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Arrival, b.Arrival), cmp.Compare(a.ID, b.ID))
	})
	return list
}

func (m *naive) add(r Request, now scheduler.Time) {
	s := &simple{Request: r, prompt: len(r.Tokens), tokens: slices.Clone(r.Tokens)}
	m.live = append(m.live, s)
	m.queue(s, now)
}

func (m *naive) cancel(id uint64) {
	i := slices.IndexFunc(m.live, func(s *simple) bool { return s.ID == id })
	s := m.live[i]
	m.host -= s.host
	s.host = 0
	m.stop(s)
	m.live = slices.Delete(m.live, i, i+1)
	m.settle()
}

func (m *naive) stop(s *simple) {
	m.Trim(&s.table, 0)
	s.computed, s.running = 0, false
	if !slices.ContainsFunc(m.live, func(o *simple) bool { return o.running && m.lane(o) == m.lane(s) }) {
		m.turns = slices.DeleteFunc(m.turns, func(a string) bool { return a == m.lane(s) })
	}
}

// tryAdmit starts s with room for draft, leaving what is due to others, or leaves everything as it was.
func (m *naive) tryAdmit(s *simple, draft, due int) bool {
	if len(m.sorted(true)) >= m.cfg.MaxRunning {
		return false
	}
	free := slices.Clone(m.Free)
	for end := m.cfg.BlockSize; end < len(s.tokens) && !s.Hybrid; end += m.cfg.BlockSize {
		id, ok := m.Holder(m.Hash(s.Root, s.tokens[:end]))
		if !ok {
			break
		}
		m.Share(&s.table, id)
	}
	shared := len(s.table)
	need := m.Blocks(len(s.tokens) + 1 + draft)
	if s.gaveWay >= pinAfter {
		need = m.Blocks(s.prompt + s.MaxNew)
	}
	if len(m.sorted(true)) > 0 && need-shared+max(due, int(m.cfg.Watermark*float64(m.cfg.Blocks))) > len(m.Free) ||
		!m.Extend(&s.table, need) {
		for _, id := range s.table {
			m.Refs[id]--
		}
		s.table, m.Free = nil, free
		return false
	}
	s.computed, s.running, s.fresh = shared*m.cfg.BlockSize, true, true
	if s.host > 0 {
		s.computed, s.restoring = s.kept, true
	}
	if !slices.Contains(m.turns, m.lane(s)) {
		m.turns = append(m.turns, m.lane(s))
	}
	return true
}

func (m *naive) admit(s *simple, due int) bool {
	if !m.tryAdmit(s, m.window(s), due) && !m.tryAdmit(s, 0, due) {
		return false
	}
	if !s.admitted {
		m.charge(s, len(s.tokens)-s.computed)
	}
	s.admitted = true
	m.settle()
	return true
}

func (m *naive) window(s *simple) int {
	return max(0, min(s.Draft, s.MaxNew-(len(s.tokens)-s.prompt)-1))
}

func (m *naive) giveWay(s *simple) {
	if m.worthSaving(s) {
		s.host, s.kept = m.cfg.SSMStateBytes+m.cfg.KVTokenBytes*int64(s.computed), s.computed
		m.host += s.host
		m.saved = append(m.saved, s)
	}
	s.restoring = false
	m.stop(s)
	m.preempt++
	s.gaveWay++
	s.left = true
	m.queue(s, m.now)
}

// outrank tries the first one, two, … on a copy each time.
func (m *naive) outrank() {
	for {
		head := m.head()
		if head == nil || head.left || m.fitsNow(head.ID) {
			return
		}
		chosen := m.choose(head.Priority-1, nil, func(c *naive) bool {
			return c.tryAdmit(c.find(head.ID), 0, c.growth(head.Priority))
		})
		for _, v := range chosen {
			m.giveWay(v)
		}
		if len(chosen) == 0 || !m.admit(head, m.growth(head.Priority)) {
			return
		}
	}
}

// growth is the blocks that are due to the running requests that are at least as urgent.
func (m *naive) growth(priority int) (n int) {
	for _, s := range m.sorted(true) {
		if s.Priority >= priority && s.decoding() {
			n += max(0, m.Blocks(s.computed+1)-len(s.table))
		}
	}
	return n
}

func (m *naive) fitsNow(id uint64) bool {
	c := m.clone()
	return c.tryAdmit(c.find(id), 0, 0)
}

func (m *naive) find(id uint64) *simple {
	return m.live[slices.IndexFunc(m.live, func(s *simple) bool { return s.ID == id })]
}

func (s *simple) decoding() bool { return s.computed == len(s.tokens)-1 && len(s.tokens) > s.prompt }

func (m *naive) assemble() (adapter string, items []naiveItem) {
	m.batch, m.preempt, m.saved = nil, 0, nil
	for _, s := range m.live {
		s.fresh, s.left = false, false
	}
	m.lift()
	budget := m.cfg.TokenBudget
	m.outrank()
	for len(m.turns) > 0 && len(m.batch) == 0 {
		adapter = m.turns[0]
		m.serve(adapter, &budget)
	}
	if m.preempt == 0 || len(m.batch) == 0 {
		for s := m.head(); s != nil; s = m.head() {
			joins := len(m.batch) == 0 || m.lane(s) == adapter
			if joins && budget == 0 || !m.admit(s, 0) {
				break
			}
			if joins {
				adapter = m.lane(s)
				m.chunk(s, &budget)
			}
		}
	}
	if i := slices.Index(m.turns, adapter); i >= 0 && len(m.batch) > 0 {
		m.turns = append(slices.Delete(m.turns, i, i+1), adapter)
	}
	return adapter, m.batch
}

func (m *naive) serve(adapter string, budget *int) {
	mine := func() []*simple {
		return slices.DeleteFunc(m.sorted(true), func(s *simple) bool { return m.lane(s) != adapter })
	}
	for _, s := range mine() {
		s.held = len(s.table)
		if s.running && s.decoding() && !m.Extend(&s.table, m.Blocks(s.computed+1)) {
			for _, v := range m.choose(s.Priority, s,
				func(c *naive) bool { return c.Extend(&c.find(s.ID).table, m.Blocks(s.computed+1)) }) {
				m.giveWay(v)
			}
			if s.running {
				m.Extend(&s.table, m.Blocks(s.computed+1))
			}
		}
	}
	all := mine()
	for i, s := range all {
		if !s.decoding() {
			continue
		}
		draft := max(0, min(m.window(s), *budget-1-(len(all)-i-1)))
		if draft > 0 && !m.Extend(&s.table, m.Blocks(s.computed+1+draft)) {
			draft = 0
		}
		mode := Decode
		if draft > 0 {
			mode = SpecVerify
		}
		m.item(s, mode, 1, draft, budget)
	}
	for _, s := range all {
		if !s.decoding() && *budget > 0 {
			m.chunk(s, budget)
		}
	}
}

func (m *naive) chunk(s *simple, budget *int) {
	s.held = len(s.table)
	m.item(s, Prefill, min(len(s.tokens)-s.computed, m.cfg.ChunkTokens, *budget), 0, budget)
}

func (m *naive) item(s *simple, mode Mode, n, draft int, budget *int) {
	*budget -= n + draft
	m.batch = append(m.batch, naiveItem{s.ID, mode, s.computed, n, draft, s.computed+n == len(s.tokens),
		fmt.Sprint(s.table[:m.Blocks(s.computed+n+draft)])})
}

func (m *naive) commit(rs []Result) {
	for i, it := range m.batch {
		if !slices.ContainsFunc(m.live, func(s *simple) bool { return s.ID == it.ID }) {
			continue
		}
		s, tokens := m.find(it.ID), rs[i].Tokens
		if s.restoring {
			m.host -= s.host
			s.host, s.restoring = 0, false
		}
		s.tokens = append(s.tokens, tokens...)
		before := s.computed
		s.computed += it.N + max(0, len(tokens)-1)
		for b := before / m.cfg.BlockSize; b < s.computed/m.cfg.BlockSize && !s.Hybrid; b++ {
			h := m.Hash(s.Root, s.tokens[:(b+1)*m.cfg.BlockSize])
			if _, ok := m.Holder(h); !ok {
				m.Content[s.table[b]] = h
			}
		}
		if it.Mode == SpecVerify {
			if keep := m.Blocks(s.computed + 1); s.gaveWay < pinAfter {
				m.Trim(&s.table, keep)
			}
		}
		if rs[i].Stop || len(s.tokens)-s.prompt == s.MaxNew {
			m.cancel(s.ID)
		}
	}
}

func (m *naive) abort() {
	for _, s := range m.saved {
		m.host -= s.host
		s.host = 0
	}
	for _, it := range m.batch {
		if slices.ContainsFunc(m.live, func(s *simple) bool { return s.ID == it.ID }) {
			s := m.find(it.ID)
			m.Trim(&s.table, s.held)
		}
	}
}

func (m *naive) stats() (free, running, waiting int) {
	return len(m.Free), len(m.sorted(true)), len(m.sorted(false))
}
