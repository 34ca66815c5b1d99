package events

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"

	"octet/kvpool"
	"octet/routing/events/octetkvpb"
	"octet/routing/index"
)

// restored is one replica of a snapshot.
type restored struct {
	replica, keys    string
	blockSize        int
	epoch, seq, mark uint64
	blocks           []named
	cut              bool // it had more blocks than there was room for
}

type named struct {
	hash uint64
	block
}

// reading is a snapshot that is being read.
type reading struct {
	feed *Feed
	room int64 // bytes that may still be kept
	want func(replica string) bool
	seen map[string]bool // replicas that are known; of others nothing is kept
	all  []restored
	open *restored // whose last part has not come
	keep bool      // open is known
}

// read reads a snapshot to its end, and keeps what is of replicas that are known and wanted.
func (f *Feed) read(r io.Reader, want func(replica string) bool) (all []restored, err error) {
	in := &summed{in: bufio.NewReader(r), sum: xxh3.New()}
	var head octetkvpb.Head
	if err := in.message(&head, true); err != nil {
		return nil, err
	}
	if head.Version != snapshotVersion || head.Root != f.root() {
		return nil, fmt.Errorf("version %d, or another hash seed", head.Version)
	}
	to := &reading{feed: f, room: f.room, want: want, seen: map[string]bool{}}
	var p octetkvpb.Part // one for all: nothing that is kept points into it
	for {
		before := in.sum.Sum64()
		if err := in.message(&p, true); err != nil {
			return nil, err
		}
		if p.Replica == "" {
			if to.open != nil || p.Sum != before {
				return nil, errors.New("it does not add up")
			}
			return to.all, nil
		}
		if err := to.part(&p); err != nil {
			return nil, err
		}
	}
}

// part takes one part of a replica.
func (r *reading) part(p *octetkvpb.Part) error {
	if r.open == nil {
		if err := r.begin(p); err != nil {
			return err
		}
	}
	if p.Replica != r.open.replica {
		return errors.New("a part that does not fit")
	}
	if err := r.add(p); err != nil {
		return err
	}
	if p.End {
		if r.keep {
			r.all = append(r.all, *r.open)
		}
		r.open = nil
	}
	return nil
}

// begin opens a replica.
func (r *reading) begin(p *octetkvpb.Part) error {
	if _, r.keep = r.feed.resolve(p.Replica); r.keep {
		r.keep = r.want(p.Replica)
		if r.seen[p.Replica] || len(p.Specialist) > maxKeys {
			return errors.New("a replica that comes twice, or has too long a name")
		}
		r.seen[p.Replica] = true
	}
	r.open = &restored{
		replica: p.Replica, keys: p.Specialist, blockSize: int(p.BlockSize), epoch: p.Epoch, seq: p.Seq, mark: p.Mark,
	}
	return nil
}

// add takes the blocks of a part, or looks at them only.
func (r *reading) add(p *octetkvpb.Part) error {
	n := len(p.Hashes)
	if len(p.Spans) != n || len(p.Flags) != n || len(p.Copies) != n*index.Tiers {
		return errors.New("a part that does not fit")
	}
	ours := p.Ours
	for i, hash := range p.Hashes {
		var chain []uint64
		if span := uint64(p.Spans[i]); span > 0 {
			if uint64(len(ours)) < span+1 {
				return errors.New("a block that is cut off")
			}
			chain, ours = ours[:span+1], ours[span+1:]
		}
		if !r.keep || !r.fits(len(chain)) {
			continue
		}
		b := block{copies: [index.Tiers]uint32(p.Copies[i*index.Tiers:])}
		b.first, b.doubt, b.loose = p.Flags[i]&flagFirst != 0, p.Flags[i]&flagDoubt != 0, p.Flags[i]&flagLoose != 0
		b.chain = chainOf(chain)
		r.open.blocks = append(r.open.blocks, named{hash, b})
	}
	return nil
}

// chainOf returns a copy; nil of none.
func chainOf(ours []uint64) []kvpool.BlockHash {
	if len(ours) == 0 {
		return nil
	}
	chain := make([]kvpool.BlockHash, len(ours))
	for i, h := range ours {
		chain[i] = kvpool.BlockHash(h)
	}
	return chain
}

// fits takes the room of one more block, and returns false without enough.
func (r *reading) fits(chain int) bool {
	takes := int64(unsafe.Sizeof(named{})) + int64(chain)*int64(unsafe.Sizeof(kvpool.BlockHash(0)))
	if r.room < takes || len(r.open.blocks) > r.feed.limit+keepDeparted {
		r.open.cut = true
		return false
	}
	r.room -= takes
	return true
}

// summed reads messages, each behind its length, and sums up their bytes.
type summed struct {
	in   *bufio.Reader
	sum  *xxh3.Hasher
	text bytes.Buffer // of the last message
}

// message reads the next one, of at most maxPart bytes. Memory is taken as they come, whatever the length says.
func (s *summed) message(m proto.Message, plain bool) error {
	size, err := binary.ReadUvarint(s)
	if err != nil {
		return err
	}
	if size > maxPart {
		return fmt.Errorf("%w: a part of %d bytes", ErrTooLarge, size)
	}
	s.text.Reset()
	if n, err := s.text.ReadFrom(io.LimitReader(s, int64(size))); err != nil || uint64(n) != size {
		return errors.Join(io.ErrUnexpectedEOF, err)
	}
	return proto.UnmarshalOptions{DiscardUnknown: plain}.Unmarshal(s.text.Bytes(), m)
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
