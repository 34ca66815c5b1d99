package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func nameOf(h HostID) string { return fmt.Sprint("replica-", h) }

// placed puts each replica where it was, moved by some slots; those below from have no place.
func placed(from, by int) func(string) (HostID, bool) {
	return func(name string) (HostID, bool) {
		var h int
		fmt.Sscanf(name, "replica-%d", &h)
		return HostID((h + by) % MaxHosts), h >= from
	}
}

func saved(t testing.TB, x *Indexer) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := x.Save(&b, 7, nameOf); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lived returns a fleet with a past, other tiers and extents included.
func lived(t *testing.T) *fleet {
	f := newFleet(t, 11, 40, 30, 100)
	for range 500 {
		f.step()
	}
	c := f.chains[3]
	apply(t, f.x, 39, f.seq[39]+1, // its order is like any other's
		Op{Kind: Store, Tier: CPU, Blocks: c, RootKnown: true, Extents: make([]Extent, len(c))},
		Op{Kind: Store, Tier: SSD, Blocks: c[:1], RootKnown: true}, Op{Kind: Remove, Blocks: c[:1]})
	for _, b := range c {
		f.facts.set(39, b, true)
	}
	f.x.Apply(Batch{Host: 38, Epoch: f.epoch[38], Seq: f.seq[38] + 2}) // a gap
	return f
}

func TestSnapshotBringsBackEveryFactAndEachPlaceInTheStream(t *testing.T) {
	f := lived(t)
	y, err := Load(bytes.NewReader(saved(t, f.x)), Config{}, 7, placed(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := y.Check(); err != nil {
		t.Fatal(err)
	}
	if y.Digest() != f.x.Digest() || y.Stats().Entries != f.x.Stats().Entries || y.Alive() != f.x.Alive() || y.Stale() != f.x.Stale() {
		t.Fatalf("%+v became %+v", f.x.Stats(), y.Stats())
	}
	for h := range HostID(f.hosts) {
		want, got := f.x.Host(h), y.Host(h)
		want.Generation, want.Resyncs = 1, 0
		if got != want {
			t.Fatalf("host %d: %+v, want %+v", h, got, want)
		}
	}
	if got, want := y.Hint(39, f.chains[3], 4, nil), f.x.Hint(39, f.chains[3], 4, nil); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("hint %v, want %v", got, want)
	}
	f.x = y
	for range 200 { // and it goes on from there
		if h := HostID(38); f.rng.IntN(50) == 0 {
			f.seq[h] = y.Host(h).LastSeq
		}
		f.seq[38], f.seq[39] = y.Host(38).LastSeq, y.Host(39).LastSeq
		h := HostID(f.rng.IntN(30))
		f.seq[h]++
		y.Apply(Batch{Host: h, Epoch: f.epoch[h], Seq: f.seq[h], Ops: []Op{f.op(h)}})
		f.compare()
	}
	f.check()
}

// Slots change hands over a restart, and replicas go.
func TestSnapshotMovesReplicasToTheirNewSlotsAndLeavesOthersOut(t *testing.T) {
	f := lived(t)
	const from, by = 9, 100
	y, err := Load(bytes.NewReader(saved(t, f.x)), Config{}, 7, placed(from, by))
	if err != nil {
		t.Fatal(err)
	}
	if err := y.Check(); err != nil {
		t.Fatal(err)
	}
	var out [MaxHosts]uint16
	for _, c := range f.chains {
		y.Depths(c, y.Alive(), &out)
		for h := range f.hosts {
			want := 0
			if h >= from {
				want = f.facts.depth(HostID(h), c)
			}
			if got := int(out[h+by]); got != want {
				t.Fatalf("replica %d holds %d, want %d", h, got, want)
			}
		}
	}
	for h := range HostID(from) {
		if y.Alive().Has(h + by) {
			t.Fatalf("slot %d is in use", h+by)
		}
	}
}

func TestDamagedOrForeignSnapshotIsRefusedWhole(t *testing.T) {
	f := lived(t)
	whole := saved(t, f.x)
	rng := rand.New(rand.NewPCG(1, 1))
	for range patiently(400) {
		bad := bytes.Clone(whole)
		bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		if x, err := Load(bytes.NewReader(bad), Config{}, 7, placed(0, 0)); x != nil || !errors.Is(err, ErrSnapshot) {
			t.Fatalf("%v, %v", x, err)
		}
		if x, err := Load(bytes.NewReader(whole[:rng.IntN(len(whole))]), Config{}, 7, placed(0, 0)); x != nil || !errors.Is(err, ErrSnapshot) {
			t.Fatalf("cut short: %v, %v", x, err)
		}
	}
	version := bytes.Clone(whole)
	version[8]++
	for _, c := range []struct {
		what   string
		file   []byte
		hashes uint64
		config Config
		want   error
	}{
		{"no snapshot", []byte("{}"), 7, Config{}, ErrForeign},
		{"another version", version, 7, Config{}, ErrForeign},
		{"another seed", whole, 8, Config{}, ErrHashSeed},
		{"too few slots", whole, 7, Config{Hosts: 3}, ErrCorrupt},
		{"too little memory", whole, 7, Config{MaxBytes: 1000}, ErrNoRoom},
		{"a bad config", whole, 7, Config{Hosts: -1}, ErrConfig},
	} {
		if x, err := Load(bytes.NewReader(c.file), c.config, c.hashes, placed(0, 0)); x != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
	if err := f.x.Save(full{}, 7, nameOf); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("saved to a full disk: %v", err)
	}
}

func TestSnapshotFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "index")
	if _, err := LoadFile(path, Config{}, 7, placed(0, 0)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for depth := range 3 {
		x := newRuns(t, chainOf(4, ""), depth+1)
		if err := x.SaveFile(path, 7, nameOf); err != nil {
			t.Fatal(err)
		}
		y, err := LoadFile(path, Config{}, 7, placed(0, 0))
		if err != nil || y.Digest() != x.Digest() {
			t.Fatal(err)
		}
	}
	if err := newRuns(t, nil, 0).SaveFile(filepath.Join(dir, "none", "index"), 7, nameOf); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Fatalf("%d files left", len(left))
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// sealed makes any body a snapshot whose checksums are right.
func sealed(body []byte) []byte {
	h := append([]byte(nil), snapshotMagic...)
	h = binary.LittleEndian.AppendUint32(h, snapshotVersion)
	h = binary.LittleEndian.AppendUint32(h, Words)
	h = binary.LittleEndian.AppendUint64(h, 7)
	h = binary.LittleEndian.AppendUint64(h, uint64(len(body)))
	h = binary.LittleEndian.AppendUint32(h, crc32.Checksum(h, castagnoli))
	h = append(h, body...)
	return binary.LittleEndian.AppendUint32(h, crc32.Checksum(body, castagnoli))
}

// Whatever a snapshot says, it is refused or gives an index that is whole.
func FuzzSnapshotReader(f *testing.F) {
	x, _ := New(Config{})
	for h := range HostID(3) {
		x.Admit(h)
		x.Apply(Batch{Host: h, Epoch: 1, Seq: 1, Ops: []Op{{Kind: Store, Tier: Tier(h), Blocks: chainOf(4+int(h), ""), RootKnown: true}}})
	}
	x.Apply(Batch{Host: 0, Epoch: 1, Seq: 2, Ops: []Op{{Kind: Remove, Blocks: chainOf(2, "")[1:]}, {Kind: Store, Tier: SSD, Blocks: chainOf(1, ""), RootKnown: true, Extents: make([]Extent, 1)}}})
	whole := saved(f, x)
	body := whole[snapshotHeader : len(whole)-4]
	f.Add(body)
	for i := range body {
		bad := bytes.Clone(body)
		bad[i]++
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		x, err := Load(bytes.NewReader(sealed(body)), Config{}, 7, placed(1, 0))
		if (x == nil) == (err == nil) || err != nil && !errors.Is(err, ErrSnapshot) {
			t.Fatal(x, err)
		}
		if x == nil {
			return
		}
		if err := x.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkIndexLoad loads a snapshot of a million blocks in runs of 16.
func BenchmarkIndexLoad(b *testing.B) {
	g := grow(1e6, 16)
	file := saved(b, g.x)
	b.SetBytes(int64(len(file)))
	began := cpuTime()
	for b.Loop() {
		if _, err := Load(bytes.NewReader(file), Config{}, 7, placed(0, 0)); err != nil {
			b.Fatal(err)
		}
	}
	reportCPU(b, began)
}
