package index

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"octet/kvpool"
)

// Load returns an index with what a snapshot says. place gives the slot in which a replica of that name lives now; it lives there
// from now on, as after Admit. What the others held is left out. The snapshot must have been saved with the same hashes.
// Whatever is wrong with it is an ErrSnapshot, and no index: none is loaded by half.
func Load(r io.Reader, c Config, hashes uint64, place func(replica string) (HostID, bool)) (*Indexer, error) {
	size, err := readHeader(r, hashes)
	if err != nil {
		return nil, err
	}
	x, err := New(c)
	if err != nil {
		return nil, err
	}
	sum := crc32.New(castagnoli)
	body := &io.LimitedReader{R: r, N: int64(size)}
	d := decoder{x: x, place: place, r: bufio.NewReaderSize(io.TeeReader(body, sum), 1<<16)}
	d.body()
	if d.err != nil {
		return nil, d.err
	}
	var trailer [4]byte
	if _, err := io.ReadFull(r, trailer[:]); err != nil || body.N > 0 || d.r.Buffered() > 0 {
		return nil, fmt.Errorf("%w: its end is not where it should be", ErrCorrupt)
	}
	if binary.LittleEndian.Uint32(trailer[:]) != sum.Sum32() {
		return nil, fmt.Errorf("%w: its checksum differs", ErrCorrupt)
	}
	return x, nil
}

// readHeader returns how long the body is.
func readHeader(r io.Reader, hashes uint64) (size uint64, err error) {
	var h [snapshotHeader]byte
	if _, err := io.ReadFull(r, h[:]); err != nil || string(h[:8]) != snapshotMagic {
		return 0, fmt.Errorf("%w: no snapshot", ErrForeign)
	}
	version, words := binary.LittleEndian.Uint32(h[8:]), binary.LittleEndian.Uint32(h[12:])
	if version != snapshotVersion || words != Words {
		return 0, fmt.Errorf("%w: version %d for %d replicas; want %d for %d", ErrForeign, version, words*64, snapshotVersion, MaxHosts)
	}
	if binary.LittleEndian.Uint32(h[snapshotHeader-4:]) != crc32.Checksum(h[:snapshotHeader-4], castagnoli) {
		return 0, fmt.Errorf("%w: its header's checksum differs", ErrCorrupt)
	}
	if binary.LittleEndian.Uint64(h[16:]) != hashes {
		return 0, ErrHashSeed
	}
	if size = binary.LittleEndian.Uint64(h[24:]); size > 1<<56 {
		return 0, fmt.Errorf("%w: %d bytes", ErrCorrupt, size)
	}
	return size, nil
}

// decoder reads a snapshot's body into an index that nobody else has. After the first error it reads zeros.
type decoder struct {
	x      *Indexer
	place  func(string) (HostID, bool)
	r      *bufio.Reader
	err    error
	slots  []HostID         // of the snapshot's hosts, in its order
	now    [MaxHosts]HostID // the slot that a slot of the snapshot is now
	moving HostBitmap       // slots of the snapshot that have one now
	buf    [maxRun * 8]byte
	blocks [maxRun]kvpool.BlockHash
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
	}
}

// bytes returns the next n bytes, n at most len(buf).
func (d *decoder) bytes(n int) []byte {
	if d.err == nil {
		if _, err := io.ReadFull(d.r, d.buf[:n]); err != nil {
			d.fail("it ends early")
		}
	}
	if d.err != nil {
		clear(d.buf[:n])
	}
	return d.buf[:n]
}

func (d *decoder) u8() int     { return int(d.bytes(1)[0]) }
func (d *decoder) u16() int    { return int(binary.LittleEndian.Uint16(d.bytes(2))) }
func (d *decoder) u32() uint32 { return binary.LittleEndian.Uint32(d.bytes(4)) }
func (d *decoder) u64() uint64 { return binary.LittleEndian.Uint64(d.bytes(8)) }

func (d *decoder) body() {
	for n := d.u16(); n > 0 && d.err == nil; n-- {
		d.host()
	}
	s, tail := &shape{}, &shape{}
	for n := d.u32(); n > 0 && d.err == nil; n-- {
		if d.run(s); d.err == nil {
			d.keep(s, tail)
		}
	}
	for _, slot := range d.slots {
		d.elsewhere(slot)
		d.extents(slot)
	}
}

func (d *decoder) host() {
	slot, n := HostID(d.u16()), d.u16()
	if slot >= MaxHosts || n > maxName || len(d.slots) > 0 && slot <= d.slots[len(d.slots)-1] {
		d.fail("host %d with a name of %d bytes", slot, n)
		return
	}
	name := string(d.bytes(n))
	o := order{epoch: d.u64(), last: d.u64()}
	bits := d.u8()
	o.started, o.seen, o.stale = bits&wasStarted != 0, bits&wasSeen != 0, bits&wasStale != 0
	o.gaps = d.u64()
	d.slots = append(d.slots, slot)
	if d.err != nil {
		return
	}
	now, ok := d.place(name)
	if !ok {
		return
	}
	if d.x.alive.has(now%MaxHosts) || d.x.Admit(now) != nil {
		d.fail("no slot %d for %q", now, name)
		return
	}
	d.x.hosts[now].order = o
	if o.stale {
		d.x.stale.set(now)
	}
	d.now[slot] = now
	d.moving.Set(slot)
}

// run reads a run's shape and its blocks.
func (d *decoder) run(s *shape) {
	s.len = d.u16()
	parts, isles := d.u16(), d.u16()
	if s.len == 0 || s.len > maxRun || parts > maxParts || isles > maxIsles {
		d.fail("a run of %d blocks, %d parts, %d isles", s.len, parts, isles)
		return
	}
	for i := range s.full {
		s.full[i] = d.u64()
	}
	s.parts, s.isles = s.parts[:0], s.isles[:0]
	for range parts {
		p := d.u32()
		s.parts = append(s.parts, part{HostID(p >> 16), uint16(p)})
	}
	for range isles {
		s.isles = append(s.isles, isleOf(d.u64()))
	}
	raw := d.bytes(s.len * 8)
	for i := range s.len {
		d.blocks[i] = kvpool.BlockHash(binary.LittleEndian.Uint64(raw[i*8:]))
	}
	for _, p := range s.parts {
		if p.host >= MaxHosts {
			d.fail("host %d", p.host)
			return
		}
	}
	for _, i := range s.isles {
		if i.host >= MaxHosts {
			d.fail("host %d", i.host)
			return
		}
	}
	if err := s.check(); err != nil {
		d.fail("%v", err)
	}
}

// keep records what of a run somebody holds who has a slot now.
func (d *decoder) keep(s, tail *shape) {
	t := d.x.tree
	var lost [MaxHosts]int
	s.expel(d.moving.not(), &lost)
	d.rename(s)
	for end := s.len; s.len > 0 && d.err == nil; end = s.len {
		gaps := s.gaps(0, end, t.gaps[:0])
		if len(gaps) == 0 {
			d.adopt(d.blocks[:end], s)
			return
		}
		last := gaps[len(gaps)-1]
		if last.to < end {
			s.cut(last.to, tail)
			d.adopt(d.blocks[last.to:end], tail)
		}
		s.trim(last.from)
	}
}

// rename gives the hosts of s the slots that they have now.
func (d *decoder) rename(s *shape) {
	var full HostBitmap
	for h := range s.full.All() {
		full.Set(d.now[h])
	}
	s.full = full
	for i := range s.parts {
		s.parts[i].host = d.now[s.parts[i].host]
	}
	for i := range s.isles {
		s.isles[i].host = d.now[s.isles[i].host]
	}
}

func (d *decoder) adopt(blocks []kvpool.BlockHash, s *shape) {
	t := d.x.tree
	if !t.room(len(blocks)) {
		d.err = ErrNoRoom
		return
	}
	s.facts(func(h HostID, from, to int) { t.held[h] += to - from })
	n := t.adopt(blocks, s)
	if n == len(blocks) {
		return
	}
	if id, _ := t.find(blocks[n]); id == 0 {
		d.err = ErrNoRoom
		return
	}
	d.fail("block %x twice", blocks[n])
}

// elsewhere reads where the copies of a host's blocks are that are not on the GPU alone.
func (d *decoder) elsewhere(slot HostID) {
	t, now := d.x.tree, d.now[slot]
	h, moving := &d.x.hosts[now], d.moving.Has(slot)
	for n := d.u32(); n > 0 && d.err == nil; n-- {
		b, s := kvpool.BlockHash(d.u64()), tierSet(d.u8())
		switch {
		case s == 0 || s == onGPU || s >= 1<<Tiers || moving && !t.holds(now, b):
			d.fail("tiers %b of block %x", s, b)
		case moving && !t.mem.take(elsewhereBytes):
			d.err = ErrNoRoom
		case moving:
			if h.elsewhere == nil {
				h.elsewhere = map[kvpool.BlockHash]tierSet{}
			}
			h.elsewhere[b] = s
		}
	}
}

// extents reads where a host's copies lie.
func (d *decoder) extents(slot HostID) {
	t, now := d.x.tree, d.now[slot]
	h, moving := &d.x.hosts[now], d.moving.Has(slot)
	for n := d.u32(); n > 0 && d.err == nil; n-- {
		p := place{kvpool.BlockHash(d.u64()), Tier(d.u8())}
		at := Extent{Offset: d.u64(), Length: d.u64(), Device: d.u32()}
		switch {
		case p.tier >= Tiers || moving && (!t.holds(now, p.block) || h.tiers(p.block)&(1<<p.tier) == 0):
			d.fail("extent of block %x", p.block)
		case moving && !t.mem.take(placedBytes):
			d.err = ErrNoRoom
		case moving:
			if h.extents == nil {
				h.extents = map[place]Extent{}
			}
			h.extents[p] = at
		}
	}
}
