package kvpool

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// oracle is the pool as one would write it without thinking of speed: a list of free blocks and maps.
type oracle struct {
	free    []BlockID // in the order of taking
	refs    map[BlockID]int
	content map[BlockID]BlockHash
	tables  [][]BlockID
	evicted []BlockHash
	letter  int // blocks that a letter of a sequence takes
}

func newOracle(blocks, tables int) *oracle {
	o := &oracle{refs: map[BlockID]int{}, content: map[BlockID]BlockHash{}, tables: make([][]BlockID, tables)}
	for id := range BlockID(blocks) {
		o.free = append(o.free, id)
	}
	return o
}

func (o *oracle) holder(h BlockHash) (BlockID, bool) {
	for id, content := range o.content {
		if content == h {
			return id, true
		}
	}
	return 0, false
}

func (o *oracle) match(chain []BlockHash) (n int) {
	for n < len(chain) {
		if _, ok := o.holder(chain[n]); !ok {
			break
		}
		n++
	}
	return n
}

func (o *oracle) share(t int, chain []BlockHash) {
	for _, h := range chain[:o.match(chain)] {
		id, _ := o.holder(h)
		if i := slices.Index(o.free, id); i >= 0 {
			o.free = slices.Delete(o.free, i, i+1)
		}
		o.refs[id]++
		o.tables[t] = append(o.tables[t], id)
	}
}

func (o *oracle) extend(t, n int) bool {
	if n-len(o.tables[t]) > len(o.free) {
		return false
	}
	for len(o.tables[t]) < n {
		id := o.free[0]
		o.free = o.free[1:]
		if h, ok := o.content[id]; ok {
			o.evicted = append(o.evicted, h)
			delete(o.content, id)
		}
		o.refs[id] = 1
		o.tables[t] = append(o.tables[t], id)
	}
	return true
}

func (o *oracle) seal(t, i int, h BlockHash) bool {
	if _, ok := o.holder(h); ok {
		return false
	}
	o.content[o.tables[t][i]] = h
	return true
}

func (o *oracle) trim(t, n int) {
	for i := len(o.tables[t]) - 1; i >= n; i-- {
		id := o.tables[t][i]
		o.tables[t] = o.tables[t][:i]
		if o.refs[id]--; o.refs[id] > 0 {
			continue
		}
		if _, ok := o.content[id]; ok {
			o.free = append(o.free, id)
		} else {
			o.free = slices.Insert(o.free, 0, id)
		}
	}
}

// fits tries it out on a copy.
func (o *oracle) fits(chain []BlockHash, n int, released ...int) bool {
	c := newOracle(0, len(o.tables)+1)
	c.free = slices.Clone(o.free)
	for id, n := range o.refs {
		c.refs[id] = n
	}
	for id, h := range o.content {
		c.content[id] = h
	}
	for i, t := range o.tables {
		c.tables[i] = slices.Clone(t)
	}
	c.share(len(o.tables), chain) // first, so that nothing it shares is evicted
	for _, t := range released {
		c.trim(t, 0)
	}
	return c.extend(len(o.tables), n)
}

const (
	oracleTables = 5
	oracleDepth  = 6 // letters of the longest sequence
)

// depth returns the blocks of the longest sequence.
func (o *oracle) depth() int { return oracleDepth * o.letter }

// drive applies one operation, coded in three numbers, to pool and oracle and compares what they say.
// Sequences are words over two letters, so that prefixes meet often.
func drive(p *Pool, o *oracle, tables []*Table, owner []int, op, t, arg int) error {
	t %= oracleTables
	table, chain := tables[t], o.chain(owner[t])
	switch op % 7 {
	case 0: // a new sequence
		if table.Len() == 0 {
			owner[t] = arg % (1 << oracleDepth)
			chain = o.chain(owner[t])
			p.Share(table, chain)
			o.share(t, chain)
		}
	case 1:
		n := 7*arg%o.depth() + 1
		if got, want := p.Extend(table, n), o.extend(t, n); got != want {
			return fmt.Errorf("extend to %d: %t, want %t", n, got, want)
		}
	case 2:
		if table.Len() == 0 {
			break
		}
		i := arg % table.Len()
		if got, want := p.Seal(table, i, chain[i]), o.seal(t, i, chain[i]); got != want {
			return fmt.Errorf("seal %d: %t, want %t", i, got, want)
		}
	case 3:
		n := 7 * arg % (o.depth() + 1)
		p.Trim(table, n)
		o.trim(t, n)
	case 4:
		p.Release(table)
		o.trim(t, 0)
	case 6: // a prompt that was computed
		for i := arg % (table.Len() + 1); i < table.Len(); i++ {
			if got, want := p.Seal(table, i, chain[i]), o.seal(t, i, chain[i]); got != want {
				return fmt.Errorf("seal %d of all: %t, want %t", i, got, want)
			}
		}
	case 5:
		return compareQuestions(p, o, tables, t, arg)
	}
	return nil
}

// compareQuestions asks what changes nothing: Match, Fits, Imagine.
func compareQuestions(p *Pool, o *oracle, tables []*Table, t, arg int) error {
	chain, n := o.chain(arg), arg%(o.depth()+2)
	if got, want := p.Match(chain), o.match(chain); got != want {
		return fmt.Errorf("match: %d, want %d", got, want)
	}
	shared := chain[:min(n, len(chain))]
	reuse, ok := p.Fits(shared, n)
	if want := o.fits(shared, n); ok != want || ok && reuse != o.match(shared) {
		return fmt.Errorf("%d blocks fit: %t with %d reused, want %t", n, ok, reuse, want)
	}
	m := p.Imagine(shared)
	var released []int
	for i := t; i < len(tables); i += 2 {
		m.Release(tables[i])
		released = append(released, i)
		if got, want := m.Fits(n), o.fits(shared, n, released...); got != want {
			return fmt.Errorf("%d blocks would fit without tables %v: %t, want %t", n, released, got, want)
		}
	}
	for _, i := range released {
		m.Undo(tables[i])
	}
	if got, want := m.Fits(n), o.fits(shared, n); got != want {
		return fmt.Errorf("%d blocks fit after all was undone: %t, want %t", n, got, want)
	}
	m.Close()
	return nil
}

func (o *oracle) chain(word int) []BlockHash {
	tokens := make([]uint32, o.depth())
	for i := range tokens {
		tokens[i] = uint32(word >> (i / o.letter) & 1)
	}
	return chainOf(tokens, 1)
}

// seen returns the blocks of t, and leaves it as it is.
func seen(t *Table) []BlockID {
	blocks := slices.Clone(t.blocks)
	t.copyTo(blocks)
	return blocks
}

func compare(p *Pool, o *oracle, tables []*Table, gone []BlockHash) error {
	for i, t := range tables {
		if !slices.Equal(seen(t), o.tables[i]) {
			return fmt.Errorf("table %d is %v, want %v", i, seen(t), o.tables[i])
		}
	}
	var free []BlockID
	for _, id := range slices.Backward(p.empty) {
		free = append(free, id)
	}
	for at := p.runs.all[0].next; at != 0; at = p.runs.all[at].next {
		for _, id := range slices.Backward(p.runs.blocks(at)) {
			free = append(free, id)
		}
	}
	if !slices.Equal(free, o.free) {
		return fmt.Errorf("free list is %v, want %v", free, o.free)
	}
	if !slices.Equal(gone, o.evicted) || p.Cached() != len(o.content) {
		return fmt.Errorf("evicted %x with %d left, want %x with %d", gone, p.Cached(), o.evicted, len(o.content))
	}
	return p.CheckTables(slices.Values(tables))
}

// play drives both through ops and reports the first difference.
func play(blocks, letter int, ops [][3]int) error {
	p, err := NewPool(blocks, 1)
	if err != nil {
		return err
	}
	o, tables, owner := newOracle(blocks, oracleTables), make([]*Table, oracleTables), make([]int, oracleTables)
	o.letter = letter
	for i := range tables {
		tables[i] = &Table{}
	}
	var gone []BlockHash
	p.OnEvict(func(h BlockHash) { gone = append(gone, h) })
	for i, op := range ops {
		if err := drive(p, o, tables, owner, op[0], op[1], op[2]); err != nil {
			return fmt.Errorf("operation %d %v: %w", i, op, err)
		}
		if err := compare(p, o, tables, gone); err != nil {
			return fmt.Errorf("after operation %d %v: %w", i, op, err)
		}
	}
	return nil
}

func TestPoolDoesWhatTheOracleDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ops := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [3]int {
			return [3]int{rapid.IntRange(0, 6).Draw(t, "op"), rapid.IntRange(0, oracleTables-1).Draw(t, "table"),
				rapid.IntRange(0, 1<<oracleDepth-1).Draw(t, "arg")}
		}), 60, 300).Draw(t, "ops")
		letter := rapid.SampledFrom([]int{1, 3, 16}).Draw(t, "letter")
		if err := play(letter*rapid.IntRange(1, 24).Draw(t, "blocks"), letter, ops); err != nil {
			t.Fatal(err)
		}
	})
}

// Chains that no hash function makes, with names twice and in any order: what is shared is not promised then, but the
// ledger holds.
func TestNamesOutOfOrderLeaveTheLedgerWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := NewPool(rapid.IntRange(1, 40).Draw(t, "blocks"), 4)
		if err != nil {
			t.Fatal(err)
		}
		tables := [4]*Table{{}, {}, {}, {}}
		for range 60 {
			table := tables[rapid.IntRange(0, 3).Draw(t, "table")]
			chain := rapid.SliceOfN(rapid.Uint64Range(1, 12), 1, 20).Draw(t, "chain")
			names := make([]BlockHash, len(chain))
			for i, n := range chain {
				names[i] = BlockHash(n)
			}
			if table.Len() == 0 {
				p.Share(table, names)
				p.Extend(table, len(names))
			}
			for i := range min(table.Len(), len(names)) {
				if p.blocks[seen(table)[i]].run == private {
					p.Seal(table, i, names[i])
				}
			}
			p.Fits(names, 3)
			if rapid.IntRange(0, 3).Draw(t, "look") == 0 { // which has the table written
				m := p.Imagine(names)
				m.Release(table)
				m.Undo(table)
				m.Close()
				p.Loss(table, names[:min(table.Len(), len(names))])
			}
			p.Trim(table, rapid.IntRange(0, 20).Draw(t, "trim"))
			if err := p.CheckTables(slices.Values(tables[:])); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPool(f *testing.F) {
	f.Add(uint8(8), []byte{0, 0, 3, 1, 0, 4, 2, 0, 0, 2, 0, 1, 4, 0, 0, 5, 1, 3})
	f.Fuzz(func(t *testing.T, blocks uint8, code []byte) {
		var ops [][3]int
		for ; len(code) >= 3 && len(ops) < 300; code = code[3:] {
			ops = append(ops, [3]int{int(code[0]), int(code[1]), int(code[2])})
		}
		if err := play(int(blocks%32)+1, 1+int(blocks)/16, ops); err != nil {
			t.Fatal(err)
		}
	})
}

// Hashes of one home slot, so that every removal has a cluster to repair.
func TestPrefixMapRepairsItsClusters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const blocks = 8
		m := newPrefixMap(blocks)
		want := map[BlockHash]BlockID{}
		hashes := crowd(&m, 12)
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			h := hashes[rapid.IntRange(0, len(hashes)-1).Draw(t, "hash")]
			if _, ok := want[h]; ok {
				m.remove(h)
				delete(want, h)
			} else if len(want) < blocks {
				m.add(h, BlockID(len(want)))
				want[h] = BlockID(len(want))
			}
			for _, h := range hashes {
				id, ok := m.find(h)
				if wantID, wantOK := want[h]; ok != wantOK || ok && id != wantID {
					t.Fatalf("%x is at %d (%t), want %d (%t)", h, id, ok, wantID, wantOK)
				}
			}
			if m.used != len(want) {
				t.Fatalf("%d used, want %d", m.used, len(want))
			}
		}
	})
}

// crowd returns n hashes whose homes are the last slots of the table, so that clusters wrap around.
func crowd(m *prefixMap, n int) (hashes []BlockHash) {
	for h := BlockHash(0); len(hashes) < n; h++ {
		if m.home(h) >= len(m.slots)-3 {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

// probes is how many slots are looked at for h.
func (m *prefixMap) probes(h BlockHash) int {
	n := 1
	for i := m.home(h); m.slots[i].hash != h || m.slots[i].block == 0; i = (i + 1) & (len(m.slots) - 1) {
		n++
	}
	return n
}

// B6: contents whose homes are one slot by a multiplication that is public made a lookup as long as the table. Secrets
// are drawn here, as each process has others.
func TestChosenHashesAreFoundAsFastAsOthers(t *testing.T) {
	const blocks, inverse, secrets = 1 << 12, 0xF1DE83E19937733D, 300 // inverse of 2^64/φ, modulo 2^64
	draw := rand.New(rand.NewPCG(1, 2))
	for name, chosen := range map[string]func(i uint64) BlockHash{
		"one home by Fibonacci": func(i uint64) BlockHash { return BlockHash(i * inverse) },
		"consecutive":           func(i uint64) BlockHash { return BlockHash(i) },
		"high bits alone":       func(i uint64) BlockHash { return BlockHash(i << 50) },
	} {
		for range secrets {
			m := newPrefixMap(blocks)
			m.keys = [2]uint64{draw.Uint64(), draw.Uint64() | 1}
			for i := range uint64(blocks) {
				m.add(chosen(i), BlockID(i))
			}
			sum := 0
			for i := range uint64(blocks) {
				sum += m.probes(chosen(i))
			}
			if mean := float64(sum) / blocks; mean > 2 {
				t.Fatalf("%s: %.1f slots in the mean under %x", name, mean, m.keys)
			}
		}
	}
}
