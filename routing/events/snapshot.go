package events

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/encoding/protodelim"

	"octet/routing/events/octetkvpb"
)

// ErrSnapshot is what Load says of what it cannot use.
var ErrSnapshot = errors.New("events: bad snapshot")

const (
	snapshotVersion = 2
	partBlocks      = 8192    // that Save puts into one part
	maxPart         = 8 << 20 // bytes of a part that Load takes; it allocates for a part as its bytes come
	maxKeys         = 4 << 10 // bytes of what a replica's hashes are made of, see Target
)

// Save writes what is known of every replica that is not stale, for Load. Replicas are looked at one after the other,
// each at one moment of its own.
func (f *Feed) Save(w io.Writer) error {
	sum := xxh3.New()
	buffered := bufio.NewWriter(w)
	out := io.MultiWriter(buffered, sum)
	head := &octetkvpb.Head{Version: snapshotVersion, Root: f.root()}
	carrySeed(head, f.hasher.Seed())
	if _, err := protodelim.MarshalTo(out, head); err != nil {
		return fmt.Errorf("events: saving: %w", err)
	}
	for _, name := range f.names() {
		for _, p := range f.parts(name) {
			if _, err := protodelim.MarshalTo(out, p); err != nil {
				return fmt.Errorf("events: saving %s: %w", name, err)
			}
		}
	}
	if _, err := protodelim.MarshalTo(buffered, &octetkvpb.Part{Sum: sum.Sum64()}); err != nil {
		return fmt.Errorf("events: saving: %w", err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("events: saving: %w", err)
	}
	return nil
}

// root tells hash seeds apart, and versions that hash otherwise.
func (f *Feed) root() uint64 { return uint64(f.hasher.Next(f.hasher.Root("", "", ""), []uint32{1})) }

func (f *Feed) names() (all []string) {
	f.feedMu.RLock()
	defer f.feedMu.RUnlock()
	for name := range f.replicas {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// parts returns what is known of one replica: nothing when it is stale or nothing was applied.
func (f *Feed) parts(replica string) (all []*octetkvpb.Part) {
	s := f.known(replica)
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || !s.order.seen || s.held.full || f.index.Stale().Has(s.target.Host) {
		return nil
	}
	p := &octetkvpb.Part{
		Replica: replica, Specialist: s.target.keys(), BlockSize: uint32(s.target.BlockSize),
		Epoch: s.order.epoch, Seq: s.order.last, Mark: s.mark,
	}
	add := func(hash uint64, b *block) {
		if len(p.Hashes) == partBlocks {
			all = append(all, p)
			p = &octetkvpb.Part{Replica: replica}
		}
		appendBlock(p, hash, b)
	}
	s.held.each(add)
	p.End = true
	return append(all, p)
}

const (
	flagFirst = 1 << iota
	flagDoubt
	flagLoose
)

func appendBlock(p *octetkvpb.Part, hash uint64, b *block) {
	p.Hashes = append(p.Hashes, hash)
	p.Spans = append(p.Spans, uint32(max(len(b.chain)-1, 0)))
	for _, h := range b.chain {
		p.Ours = append(p.Ours, uint64(h))
	}
	p.Copies = append(p.Copies, b.copies[:]...)
	var flags uint32
	if b.first {
		flags |= flagFirst
	}
	if b.doubt {
		flags |= flagDoubt
	}
	if b.loose {
		flags |= flagLoose
	}
	p.Flags = append(p.Flags, flags)
}

// Load takes over what Save has written: of every replica that is known, of the same specialist and block size, and of
// which nothing later was applied. It returns how many those were. Nothing is taken over of a snapshot that is not
// whole or of another hash seed: ErrSnapshot. Meanwhile it takes at most what SnapshotRoom allows, and some parts;
// replicas for which there is no more room count as full.
func (f *Feed) Load(r io.Reader) (replicas int, err error) {
	all, err := f.read(r, func(string) bool { return true })
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	for _, old := range all {
		to, ok := f.resolve(old.replica)
		if !ok || to.keys() != old.keys || to.BlockSize != old.blockSize {
			continue
		}
		if f.takeOverSaved(old) == nil {
			replicas++
		}
	}
	return replicas, nil
}

// takeOverSaved replaces what is known of a replica by what was saved of it, unless something later was applied.
func (f *Feed) takeOverSaved(old restored) error {
	return f.replace(old.replica, old.epoch, old.seq, func(*sequence) bool { return true },
		func(s *replicaState) { s.restore(old) })
}

// restore fills an empty mapping. Under s.mu.
func (s *replicaState) restore(old restored) {
	s.mark = old.mark
	m := &s.held
	m.full = old.cut
	for _, b := range old.blocks {
		if _, twice := m.blocks[b.hash]; twice || !m.room() || b.orphan() && !m.adopt() {
			m.full = m.full || !twice
			continue
		}
		if b.chain != nil {
			m.claimAll(&b.block)
		}
		m.put(b.hash, b.block, false)
		if b.gone() {
			m.depart(b.hash)
		}
	}
}
