package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// toolCache remembers tools that were judged good, by how they were written: agents send the same ones with every
// request. Equal bytes have an equal verdict, so a tool is compared whole, and never taken by its hash. A tool is kept
// when it comes for the second time, which spares the memory of what comes once. It is safe for concurrent use.
type toolCache struct {
	sets [toolSets]toolSet
}

// toolSet are the tools whose beginnings have one hash.
type toolSet struct {
	kept [toolWays]atomic.Pointer[judgedTool]
	once [toolWays]atomic.Uint64 // hashes of tools that came once
	next atomic.Uint32           // counts what was written over
}

// judgedTool is a tool that was judged good.
type judgedTool struct {
	raw     []byte
	compact []byte // its compact form; raw itself where that is compact
	room    int    // containers that might still be opened where it was judged
}

// The bounds of a toolCache: at most toolSets × toolWays tools, of at most mostTool bytes each and as many again of
// their compact form. toolHead is what is hashed of a tool, so many bytes at least; it ends behind most names.
const (
	toolSets = 256
	toolWays = 4
	toolHead = 96
	mostTool = 8 << 10
)

// set returns where a tool is kept that begins as b does; nil if it is not.
func (t *toolCache) set(b []byte) *toolSet {
	if len(b) < toolHead {
		return nil
	}
	return &t.sets[maphash.Bytes(keySeed, b[:toolHead])%toolSets]
}

// find returns the tool that b begins with, judged with no more room than there is; nil if it is not known.
func (s *toolSet) find(b []byte, room int) *judgedTool {
	for i := range s.kept {
		if k := s.kept[i].Load(); k != nil && k.room <= room && bytes.HasPrefix(b, k.raw) {
			return k
		}
	}
	return nil
}

// add keeps a tool that was judged good if it has come before.
func (s *toolSet) add(raw []byte, loose bool, room int) {
	hash := maphash.Bytes(keySeed, raw)
	for i := range s.once {
		if s.once[i].Load() == hash {
			s.keep(raw, loose, room)
			return
		}
	}
	s.once[s.next.Add(1)%toolWays].Store(hash)
}

func (s *toolSet) keep(raw []byte, loose bool, room int) {
	k := &judgedTool{raw: bytes.Clone(raw), room: room}
	if k.compact = k.raw; loose {
		k.compact = bytes.Clone(appendCompact(make([]byte, 0, len(raw)), raw))
	}
	for i := range s.kept {
		if s.kept[i].CompareAndSwap(nil, k) {
			return
		}
	}
	s.kept[s.next.Add(1)%toolWays].Store(k)
}

// listedTool is one tool of a list, by its place.
type listedTool struct {
	off, end uint32
	loose    bool
	judged   *judgedTool // nil if it was not known
}

// listed reads one tool of a list that is shown.
func (p *parser) listed() {
	p.Peek()
	t, at := listedTool{off: uint32(p.i)}, p.i
	around := p.untidy
	set := p.cache.set(p.b[at:])
	if set != nil {
		t.judged = set.find(p.b[at:], p.room)
	}
	if t.judged != nil {
		p.i += len(t.judged.raw)
		p.r.Tools = true
		t.loose = len(t.judged.compact) < len(t.judged.raw)
	} else {
		p.untidy = false
		p.tool()
		t.loose = p.untidy
		if n := p.i - at; set != nil && n >= toolHead && n <= mostTool && p.fault.code == "" && p.refused.Code == "" {
			set.add(p.b[at:p.i], t.loose, p.room)
		}
	}
	t.end = uint32(p.i)
	p.untidy = around || t.loose
	if n := len(p.r.listed); n == cap(p.r.listed) {
		p.r.listed = slices.Grow(p.r.listed, max(8, n)) // doubling, as members
	}
	p.r.listed = append(p.r.listed, t)
}
