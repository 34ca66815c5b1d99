package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrSnapshot is what Load answers a snapshot with that it does not take. The others say why.
var (
	ErrSnapshot = errors.New("index: snapshot refused")
	ErrForeign  = fmt.Errorf("%w: not one of this version", ErrSnapshot)
	ErrHashSeed = fmt.Errorf("%w: of other block hashes", ErrSnapshot)
	ErrCorrupt  = fmt.Errorf("%w: damaged", ErrSnapshot)
	ErrNoRoom   = fmt.Errorf("%w: larger than the index may be", ErrSnapshot)
)

// A snapshot is, little-endian:
//
//	header   magic, version u32, words of a HostBitmap u32, hashes u64, bytes of the body u64, crc32c of the header so far u32
//	body     hosts u16; each: slot u16, name (u16, bytes), epoch u64, last u64, order u8, gaps u64
//	         runs u32;  each: blocks u16, parts u16, isles u16, full [words]u64, parts u32, isles u64, blocks u64
//	         of each host: elsewhere u32, each: block u64, tiers u8; extents u32, each: block u64, tier u8, extent 8+8+4
//	trailer  crc32c of the body u32
const (
	snapshotMagic   = "octetidx"
	snapshotVersion = 1
	snapshotHeader  = 8 + 4 + 4 + 8 + 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Bits of a host's order in a snapshot.
const (
	wasStarted = 1 << iota
	wasSeen
	wasStale
)

// Save writes what the living replicas hold, and each one's epoch and last batch, as of one moment: whoever loads it goes on with
// the batches after that. name gives a replica's own name, since slots change hands; those without one are left out. hashes
// tells block hashes apart that do not go together, such as those of two seeds. Changes wait while the snapshot is put together
// in memory, some 10 ms for a million blocks, and queries do not.
func (x *Indexer) Save(w io.Writer, hashes uint64, name func(HostID) string) error {
	body := x.encode(name)
	header := append(make([]byte, 0, snapshotHeader), snapshotMagic...)
	header = binary.LittleEndian.AppendUint32(header, snapshotVersion)
	header = binary.LittleEndian.AppendUint32(header, Words)
	header = binary.LittleEndian.AppendUint64(header, hashes)
	header = binary.LittleEndian.AppendUint64(header, uint64(len(body)))
	header = binary.LittleEndian.AppendUint32(header, crc32.Checksum(header, castagnoli))
	trailer := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(body, castagnoli))
	for _, part := range [...][]byte{header, body, trailer} {
		if _, err := w.Write(part); err != nil {
			return fmt.Errorf("index: writing a snapshot: %w", err)
		}
	}
	return nil
}

// encode returns a snapshot's body.
func (x *Indexer) encode(name func(HostID) string) []byte {
	names := [MaxHosts]string{}
	for i := range x.hosts {
		names[i] = name(HostID(i)) // before the locks: it is somebody else's code
	}
	for i := range x.hosts {
		x.hosts[i].mu.RLock()
		defer x.hosts[i].mu.RUnlock()
	}
	x.tree.mu.RLock()
	defer x.tree.mu.RUnlock()
	var named HostBitmap
	for id := range x.alive.load().All() {
		if names[id] != "" && len(names[id]) <= maxName {
			named.Set(id)
		}
	}
	e := encoder(make([]byte, 0, x.tree.entries*9+x.tree.live*48+1<<12))
	e.u16(named.Count())
	for id := range named.All() {
		e.host(id, names[id], &x.hosts[id].order)
	}
	e.runs(x.tree)
	for id := range named.All() {
		e.copies(&x.hosts[id])
	}
	return e
}

// maxName is how long a replica's name may be in a snapshot.
const maxName = 1 << 10

// encoder is a snapshot's body as far as it is written.
type encoder []byte

func (e *encoder) u8(v int)     { *e = append(*e, byte(v)) }
func (e *encoder) u16(v int)    { *e = binary.LittleEndian.AppendUint16(*e, uint16(v)) }
func (e *encoder) u32(v int)    { *e = binary.LittleEndian.AppendUint32(*e, uint32(v)) }
func (e *encoder) u64(v uint64) { *e = binary.LittleEndian.AppendUint64(*e, v) }

func (e *encoder) host(id HostID, name string, o *order) {
	e.u16(int(id))
	e.u16(len(name))
	*e = append(*e, name...)
	e.u64(o.epoch)
	e.u64(o.last)
	bits := 0
	for i, is := range [...]bool{o.started, o.seen, o.stale} {
		if is {
			bits |= 1 << i
		}
	}
	e.u8(bits)
	e.u64(o.gaps)
}

func (e *encoder) runs(t *runTree) {
	e.u32(t.live)
	t.each(func(r *run, s *shape) {
		e.u16(s.len)
		e.u16(len(s.parts))
		e.u16(len(s.isles))
		for _, w := range s.full {
			e.u64(w)
		}
		for _, p := range s.parts {
			e.u32(int(p.host)<<16 | int(p.reach))
		}
		for _, i := range s.isles {
			e.u64(i.word())
		}
		for _, b := range t.hashes(r) {
			e.u64(b)
		}
	})
}

func (e *encoder) copies(h *copies) {
	e.u32(len(h.elsewhere))
	for b, s := range h.elsewhere {
		e.u64(uint64(b))
		e.u8(int(s))
	}
	e.u32(len(h.extents))
	for p, at := range h.extents {
		e.u64(uint64(p.block))
		e.u8(int(p.tier))
		e.u64(at.Offset)
		e.u64(at.Length)
		e.u32(int(at.Device))
	}
}
