package wire

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync/atomic"
)

// KnownTools remembers tools that were judged good, by how they were written: agents send the same ones with every
// request. Equal bytes have an equal verdict, so a tool is compared whole, and never taken by its hash. A tool is kept
// when it comes for the second time, which spares the memory of what comes once. The zero value is ready; safe for
// concurrent use.
type KnownTools struct {
	sets [toolSets]toolSet
}

// toolSet are the tools whose beginnings have one hash.
type toolSet struct {
	kept [toolWays]atomic.Pointer[knownTool]
	once [toolWays]atomic.Uint64 // hashes of tools that came once
	next atomic.Uint32           // counts what was written over
}

// knownTool is a tool that was judged good.
type knownTool struct {
	raw  []byte
	made []byte // what became of it: its compact form, or what a door has made of it
	room int    // containers that might still be opened where it was judged
}

// The bounds of KnownTools: at most toolSets × toolWays tools, of at most mostTool bytes each and what became of
// them. toolHead is what is hashed of a tool, so many bytes at least; it ends behind most names.
const (
	toolSets = 256
	toolWays = 4
	toolHead = 96
	mostTool = 8 << 10
)

// Pass passes the tool that c comes to, if it is known, and returns what was made of it.
func (t *KnownTools) Pass(c *Cursor) (made []byte, known bool) {
	c.Peek()
	if k := t.set(c.b[c.i:]).find(c.b[c.i:], c.room); k != nil {
		c.i += len(k.raw)
		return k.made, true
	}
	return nil, false
}

// Keep keeps a tool that c has read from an offset on, and that was judged good, if it has come before. made is what
// has become of it.
func (t *KnownTools) Keep(c *Cursor, from int, made []byte) {
	if set := t.set(c.b[from:]); c.Sound() {
		set.add(c.b[from:c.i], c.room, func([]byte) []byte { return bytes.Clone(made) })
	}
}

// set returns where a tool is kept that begins as b does; nil if it is not.
func (t *KnownTools) set(b []byte) *toolSet {
	if len(b) < toolHead {
		return nil
	}
	return &t.sets[maphash.Bytes(keySeed, b[:toolHead])%toolSets]
}

// find returns the tool that b begins with, judged with no more room than there is; nil if it is not known.
func (s *toolSet) find(b []byte, room int) *knownTool {
	if s == nil {
		return nil
	}
	for i := range s.kept {
		if k := s.kept[i].Load(); k != nil && k.room <= room && bytes.HasPrefix(b, k.raw) {
			return k
		}
	}
	return nil
}

// add keeps a tool that was judged good if it has come before. what is told its own copy of it, and returns what has
// become of it.
func (s *toolSet) add(raw []byte, room int, what func(raw []byte) []byte) {
	if s == nil || len(raw) < toolHead || len(raw) > mostTool {
		return
	}
	hash := maphash.Bytes(keySeed, raw)
	for i := range s.once {
		if s.once[i].Load() == hash {
			k := &knownTool{raw: bytes.Clone(raw), room: room}
			k.made = what(k.raw)
			s.keep(k)
			return
		}
	}
	s.once[s.next.Add(1)%toolWays].Store(hash)
}

func (s *toolSet) keep(k *knownTool) {
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
	known    *knownTool // nil if it was not known
}

// listed reads one tool of a list that is shown.
func (p *parser) listed() {
	p.Peek()
	t, at := listedTool{off: uint32(p.i)}, p.i
	around := p.untidy
	set := p.known.set(p.b[at:])
	if t.known = set.find(p.b[at:], p.room); t.known != nil {
		p.i += len(t.known.raw)
		p.r.Tools = true
		t.loose = len(t.known.made) < len(t.known.raw)
	} else {
		p.untidy = false
		p.tool()
		t.loose = p.untidy
		if p.fault.code == "" && p.refused.Code == "" {
			set.add(p.b[at:p.i], p.room, func(raw []byte) []byte { return compact(raw, t.loose) })
		}
	}
	t.end = uint32(p.i)
	p.untidy = around || t.loose
	if n := len(p.r.listed); n == cap(p.r.listed) {
		p.r.listed = slices.Grow(p.r.listed, max(8, n)) // doubling, as members
	}
	p.r.listed = append(p.r.listed, t)
}

// compact returns the compact form of a JSON text that is loose if that is another.
func compact(raw []byte, loose bool) []byte {
	if !loose {
		return raw
	}
	return bytes.Clone(appendCompact(make([]byte, 0, len(raw)), raw))
}
