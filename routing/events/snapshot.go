package events

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"octet/kvpool"
	"octet/routing/events/octetkvpb"
	"octet/routing/index"
)

// ErrSnapshot is what Load says of what it cannot use.
var ErrSnapshot = errors.New("events: bad snapshot")

const (
	snapshotVersion = 2
	partBlocks      = 8192    // that Save puts into one part
	maxPart         = 8 << 20 // bytes of a part that Load takes
)

// Save writes what is known of every replica that is not stale, for Load. Replicas are looked at one after the other, each at one moment of
// its own.
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
	for name := range f.shelves {
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

// restored is one replica of a snapshot.
type restored struct {
	head   *octetkvpb.Part
	blocks []named
}

type named struct {
	hash uint64
	block
}

// Load takes over what Save has written: of every replica that is known, of the same specialist and block size, and of which nothing later was
// applied. It returns how many those were. Nothing is taken over of a snapshot that is not whole or of another hash seed: ErrSnapshot.
func (f *Feed) Load(r io.Reader) (replicas int, err error) {
	all, err := f.read(r)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	for _, old := range all {
		h := old.head
		to, ok := f.resolve(h.Replica)
		if !ok || to.keys() != h.Specialist || to.BlockSize != int(h.BlockSize) {
			continue
		}
		err := f.replace(h.Replica, h.Epoch, h.Seq, func(*sequence) bool { return true }, func(s *shelf) { s.restore(old) })
		if err == nil {
			replicas++
		}
	}
	return replicas, nil
}

// restore fills an empty mapping. Under s.mu.
func (s *shelf) restore(old restored) {
	s.mark = old.head.Mark
	m := &s.held
	for _, b := range old.blocks {
		if _, twice := m.blocks[b.hash]; twice || !m.room() {
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

// read reads a snapshot to its end, and keeps what is of replicas that are known.
func (f *Feed) read(r io.Reader) (all []restored, err error) {
	in := &summed{in: bufio.NewReader(r), sum: xxh3.New()}
	var head octetkvpb.Head
	if err := in.message(&head); err != nil {
		return nil, err
	}
	if head.Version != snapshotVersion || head.Root != f.root() {
		return nil, fmt.Errorf("version %d, or another hash seed", head.Version)
	}
	var open *restored
	for {
		before := in.sum.Sum64()
		p := new(octetkvpb.Part)
		if err := in.message(p); err != nil {
			return nil, err
		}
		if p.Replica == "" {
			if open != nil || p.Sum != before {
				return nil, errors.New("it does not add up")
			}
			return all, nil
		}
		if open == nil {
			open = &restored{head: p}
		}
		_, wanted := f.resolve(open.head.Replica)
		if err := open.add(p, wanted, f.limit); err != nil {
			return nil, err
		}
		if p.End {
			if wanted {
				all = append(all, *open)
			}
			open = nil
		}
	}
}

// add takes the blocks of a part, or looks at them only.
func (r *restored) add(p *octetkvpb.Part, keep bool, limit int) error {
	n := len(p.Hashes)
	if p.Replica != r.head.Replica || len(p.Spans) != n || len(p.Flags) != n || len(p.Copies) != n*index.Tiers {
		return errors.New("a part that does not fit")
	}
	ours := p.Ours
	for i, hash := range p.Hashes {
		b := block{copies: [index.Tiers]uint32(p.Copies[i*index.Tiers:])}
		b.first, b.doubt, b.loose = p.Flags[i]&flagFirst != 0, p.Flags[i]&flagDoubt != 0, p.Flags[i]&flagLoose != 0
		if span := uint64(p.Spans[i]); span > 0 {
			if uint64(len(ours)) < span+1 {
				return errors.New("a block that is cut off")
			}
			b.chain = make([]kvpool.BlockHash, span+1)
			for j := range b.chain {
				b.chain[j] = kvpool.BlockHash(ours[j])
			}
			ours = ours[span+1:]
		}
		if keep && len(r.blocks) <= limit+keepDeparted {
			r.blocks = append(r.blocks, named{hash, b})
		}
	}
	return nil
}

// summed reads messages and sums up their bytes.
type summed struct {
	in  *bufio.Reader
	sum *xxh3.Hasher
}

func (s *summed) message(m proto.Message) error {
	return protodelim.UnmarshalOptions{MaxSize: maxPart}.UnmarshalFrom(s, m)
}

func (s *summed) Read(b []byte) (int, error) {
	n, err := s.in.Read(b)
	_, _ = s.sum.Write(b[:n]) // never fails
	return n, err
}

func (s *summed) ReadByte() (byte, error) {
	c, err := s.in.ReadByte()
	if err == nil {
		_, _ = s.sum.Write([]byte{c}) // never fails
	}
	return c, err
}
