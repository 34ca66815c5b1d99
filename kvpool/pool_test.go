package kvpool

import (
	"errors"
	"slices"
	"testing"
)

// The cases with their numbers are those of engines in use (block 0 is an ordinary block here). Where this pool is
// meant to differ: a content is cached once, not once for each copy (TestSecondCopyOfAContentStaysPrivate); there is no
// switch that turns the cache off, but a salt of one's own (TestOwnSaltNeverHits); there is no reset, since a pool that
// shall be empty is a new pool; and hit rates over a window are for whoever reads the totals.

// fixture is a pool with named tables, checked after every step.
type fixture struct {
	*testing.T
	*Pool
	tables []*Table
}

func newFixture(t *testing.T, blocks, blockSize int) *fixture {
	t.Helper()
	p, err := NewPool(blocks, blockSize)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{T: t, Pool: p}
}

func (f *fixture) check() {
	f.Helper()
	if err := f.CheckTables(slices.Values(f.tables)); err != nil {
		f.Fatal(err)
	}
	if f.Pool.Free()+f.Used() != f.Total() {
		f.Fatalf("%d free + %d used is not %d", f.Pool.Free(), f.Used(), f.Total())
	}
}

// prompt allocates as an engine does: what is cached is shared, never the last token, the rest is fresh; all of it is
// computed.
func (f *fixture) prompt(tokens []uint32) (t *Table, reused int) {
	f.Helper()
	t = &Table{}
	f.tables = append(f.tables, t)
	chain := chainOf(tokens, f.BlockSize())
	reused = f.Share(t, chain[:min(len(chain), (len(tokens)-1)/f.BlockSize())])
	if !f.Extend(t, f.Blocks(len(tokens))) {
		f.Fatalf("no room for %d tokens: %d blocks free", len(tokens), f.Pool.Free())
	}
	for i, h := range chain {
		f.Seal(t, i, h)
	}
	f.check()
	return t, reused
}

func (f *fixture) release(ts ...*Table) {
	f.Helper()
	for _, t := range ts {
		f.Release(t)
		f.check()
	}
}

func (f *fixture) want(t *Table, blocks ...BlockID) {
	f.Helper()
	if !slices.Equal(t.Blocks(), blocks) {
		f.Fatalf("table is %v, want %v", t.Blocks(), blocks)
	}
}

// MEGA-30: a table maps logical to physical blocks; full prompt blocks can be shared, the partial last one cannot.
func TestPromptTakesBlocksInOrderAndCachesTheFullOnes(t *testing.T) {
	f := newFixture(t, 10, 16)
	table, reused := f.prompt(sequential(55, 0))
	f.want(table, 0, 1, 2, 3)
	if reused != 0 || f.Cached() != 3 || f.Pool.Free() != 6 {
		t.Fatalf("reused %d, cached %d, free %d", reused, f.Cached(), f.Pool.Free())
	}
}

// MEGA-23, MEGA-30: a prefix in use is shared without a copy.
func TestPrefixInUseIsShared(t *testing.T) {
	f := newFixture(t, 10, 16)
	first, _ := f.prompt(sequential(55, 0))
	second, reused := f.prompt(append(sequential(48, 0), sequential(5, 900)...))
	f.want(first, 0, 1, 2, 3)
	f.want(second, 0, 1, 2, 4)
	if reused != 3 || f.Pool.Free() != 5 {
		t.Fatalf("reused %d, free %d", reused, f.Pool.Free())
	}
	for _, id := range second.Blocks()[:3] {
		if refs := f.refs(id); refs != 2 {
			t.Errorf("block %d has %d references", id, refs)
		}
	}
}

// Empty blocks go to the front of the free list, last freed first; content goes to the back, the tail of a chain before
// its parents; taking everything follows that order.
func TestEvictionTakesEmptyBlocksFirstThenTailsBeforeParents(t *testing.T) {
	f := newFixture(t, 10, 16)
	first, _ := f.prompt(sequential(55, 0))
	second, _ := f.prompt(append(sequential(48, 0), sequential(5, 900)...))
	f.release(first, second)
	if f.Pool.Free() != 10 || f.Cached() != 3 {
		t.Fatalf("free %d, cached %d", f.Pool.Free(), f.Cached())
	}
	var gone []BlockHash
	f.OnEvict(func(h BlockHash) { gone = append(gone, h) })
	third, _ := f.prompt(sequential(160, 5000))
	f.want(third, 4, 3, 5, 6, 7, 8, 9, 2, 1, 0)
	chain := chainOf(sequential(48, 0), 16)
	slices.Reverse(chain)
	if !slices.Equal(gone, chain) {
		t.Fatalf("evicted %x, want the tail first: %x", gone, chain)
	}
}

func TestLeastRecentlyReleasedContentGoesFirst(t *testing.T) {
	f := newFixture(t, 3, 16)
	var held []*Table
	for i := range 3 {
		table, _ := f.prompt(sequential(16, uint32(1000*i)))
		held = append(held, table)
	}
	f.release(held[1], held[0], held[2])
	if n := f.Match(chainOf(sequential(16, 0), 16)); n != 1 {
		t.Fatalf("matched %d", n)
	}
	// touches 0, takes 1's block
	f.release(func() *Table { again, _ := f.prompt(append(sequential(16, 0), 7)); return again }())
	got := [3]int{}
	for i := range got {
		got[i] = f.Match(chainOf(sequential(16, uint32(1000*i)), 16))
	}
	if got != [3]int{1, 0, 1} {
		t.Fatalf("cached are %v", got)
	}
}

func TestDecodeFillsThePartialBlockBeforeItTakesAnother(t *testing.T) {
	f := newFixture(t, 10, 16)
	tokens := sequential(78, 0)
	table, _ := f.prompt(tokens[:55])
	for _, c := range []struct{ tokens, blocks, cached int }{{59, 4, 3}, {64, 4, 4}, {78, 5, 4}} {
		if !f.Extend(table, f.Blocks(c.tokens)) {
			t.Fatal("no room")
		}
		for i, h := range chainOf(tokens[:c.tokens], 16) {
			f.Seal(table, i, h)
		}
		f.check()
		if table.Len() != c.blocks || f.Cached() != c.cached {
			t.Errorf("%d tokens: %d blocks and %d cached, want %d and %d", c.tokens, table.Len(), f.Cached(), c.blocks,
				c.cached)
		}
	}
}

func TestReusedBlockForgetsItsOldContent(t *testing.T) {
	f := newFixture(t, 1, 16)
	first, _ := f.prompt(sequential(16, 0))
	f.release(first)
	second, reused := f.prompt(sequential(15, 0))
	f.want(second, 0)
	if reused != 0 || f.Cached() != 0 || f.Match(chainOf(sequential(16, 0), 16)) != 0 {
		t.Fatalf("reused %d, cached %d", reused, f.Cached())
	}
}

func TestSharedBlockIsNotTheVictim(t *testing.T) {
	f := newFixture(t, 2, 16)
	first, _ := f.prompt(sequential(16, 0))
	other, _ := f.prompt(sequential(16, 500))
	f.release(first, other)
	third, reused := f.prompt(sequential(32, 0))
	f.want(third, 0, 1)
	if reused != 1 {
		t.Fatalf("reused %d", reused)
	}
}

// A salt of its own for each request is a cache that never hits: there is no switch to turn the cache off.
func TestOwnSaltNeverHits(t *testing.T) {
	f := newFixture(t, 9, 16)
	var h Hasher
	tokens := sequential(49, 0)
	hits := func(salt string) int { return f.Match(h.Chain(nil, h.Root("debug", "", salt), tokens, 16)) }
	table := &Table{}
	f.tables = append(f.tables, table)
	f.Extend(table, 4)
	for i, hash := range h.Chain(nil, h.Root("debug", "", "salt1"), tokens, 16) {
		f.Seal(table, i, hash)
	}
	f.check()
	if same, other := hits("salt1"), hits("salt2"); same != 3 || other != 0 {
		t.Fatalf("%d hits under the same salt, %d under another", same, other)
	}
}

// Deviation from engines that list a content once for each physical copy: here the first copy is the shared one, a
// second stays private, and when the first is evicted the content leaves the cache. So one eviction is always one
// removal, and who follows the events needs no count.
func TestSecondCopyOfAContentStaysPrivate(t *testing.T) {
	f := newFixture(t, 4, 16)
	chain := chainOf(sequential(16, 0), 16)
	a, b := &Table{}, &Table{}
	f.tables = append(f.tables, a, b)
	f.Extend(a, 1)
	f.Extend(b, 1)
	if !f.Seal(a, 0, chain[0]) || f.Seal(b, 0, chain[0]) || f.Seal(a, 0, chain[0]) {
		t.Fatal("a content is new exactly once")
	}
	f.check()
	f.release(b)
	again := &Table{}
	f.tables = append(f.tables, again)
	if f.Extend(again, 1); again.Blocks()[0] != 1 {
		t.Fatalf("the private copy is an empty block and is taken first, got %v", again.Blocks())
	}
	f.release(a, again)
	all, _ := f.prompt(sequential(64, 700))
	if f.Match(chain) != 0 {
		t.Fatal("content survived its block")
	}
	f.release(all)
}

// MEGA-33: nothing makes a pool larger than it was.
func TestExtendIsAllOrNothing(t *testing.T) {
	f := newFixture(t, 4, 16)
	a, _ := f.prompt(sequential(33, 0))
	if f.Extend(a, 5) {
		t.Fatal("extended to 5 of 4 blocks")
	}
	f.check()
	if a.Len() != 3 || f.Pool.Free() != 1 || !f.Extend(a, 4) || !f.Extend(a, 2) || a.Len() != 4 {
		t.Fatalf("%d blocks, %d free", a.Len(), f.Pool.Free())
	}
}

// MEGA-49: what a rejected draft took is given back, last block first.
func TestTrimGivesBackTheTail(t *testing.T) {
	f := newFixture(t, 8, 4)
	a, _ := f.prompt(sequential(7, 0))
	f.Extend(a, 5)
	f.Trim(a, 2)
	f.check()
	if a.Len() != 2 || f.Pool.Free() != 6 {
		t.Fatalf("%d blocks, %d free", a.Len(), f.Pool.Free())
	}
	f.Trim(a, 7) // longer than it is: nothing to do
	b, _ := f.prompt(sequential(4, 90))
	f.want(b, 2) // the first of those given back is on top again
	f.check()
}

// 3 new tokens with 2 or 4 tokens of lookahead fit the same 2 blocks of 4.
func TestLookaheadTakesWholeBlocks(t *testing.T) {
	f := newFixture(t, 8, 4)
	for lookahead, want := range map[int]int{2: 2, 4: 2, 6: 3} {
		if got := f.Blocks(3 + lookahead); got != want {
			t.Errorf("lookahead %d: %d blocks, want %d", lookahead, got, want)
		}
	}
}

// MEGA-24, MEGA-43: prompt and one more step must fit.
func TestFitsCountsIdleHitsOnce(t *testing.T) {
	for _, c := range []struct {
		name           string
		blocks, cached int // pool; idle cached blocks of the asker's prefix
		need           int
		reuse          int
		ok             bool
	}{
		{"64 tokens and a step need 5 of 4", 4, 0, 5, 0, false},
		{"63 tokens and a step need 4 of 4", 4, 0, 4, 0, true},
		{"idle hits are free blocks too: 5 of 4", 4, 3, 5, 3, false},
		{"idle hits are free blocks too: 4 of 4", 4, 3, 4, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t, c.blocks, 16)
			chain := chainOf(sequential(16*c.need, 0), 16)
			if c.cached > 0 {
				table, _ := f.prompt(sequential(16*c.cached, 0))
				f.release(table)
			}
			if reuse, ok := f.Fits(chain, c.need); ok != c.ok || ok && reuse != c.reuse {
				t.Fatalf("reuse %d, fits %t", reuse, ok)
			}
		})
	}
	f := newFixture(t, 4, 16)
	f.prompt(sequential(48, 0)) // in use: hits cost nothing
	if reuse, ok := f.Fits(chainOf(sequential(48, 0), 16), 4); reuse != 3 || !ok {
		t.Fatalf("hits in use: reuse %d, fits %t", reuse, ok)
	}
	if _, ok := f.Fits(chainOf(sequential(48, 0), 16), 5); ok {
		t.Fatal("5 blocks with 3 shared and 1 free fit")
	}
}

func TestMatchStopsAtTheFirstMiss(t *testing.T) {
	f := newFixture(t, 8, 16)
	table, _ := f.prompt(sequential(64, 0))
	f.release(table)
	chain := chainOf(sequential(64, 0), 16)
	tokens := sequential(64, 0)
	tokens[16]++ // of block 1
	other := chainOf(tokens, 16)
	for _, c := range []struct {
		chain []BlockHash
		want  int
	}{{chain, 4}, {chain[:2], 2}, {nil, 0}, {other, 1}, {chainOf(sequential(64, 1), 16), 0}} {
		if got := f.Match(c.chain); got != c.want {
			t.Errorf("%x: matched %d, want %d", c.chain, got, c.want)
		}
	}
}

func TestMisuseOfAPoolPanicsWithNumbers(t *testing.T) {
	p, err := NewPool(4, 16)
	if err != nil {
		t.Fatal(err)
	}
	var a Table
	p.Extend(&a, 1)
	stale := Table{blocks: slices.Clone(a.blocks)}
	p.Seal(&a, 0, 7)
	for _, c := range []struct {
		want   string
		misuse func()
	}{
		{"kvpool: sharing a prefix into a table of 1 blocks", func() { p.Share(&a, []BlockHash{7}) }},
		{"kvpool: sealing block 0 as 0x8, but it holds 0x7", func() { p.Seal(&a, 0, 8) }},
		{"kvpool: releasing block 0, which has 0 references", func() { p.Release(&a); p.Release(&stale) }},
	} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("panic %q, want %q", got, c.want)
				}
			}()
			c.misuse()
		}()
	}
}

func TestImpossiblePoolsAreRefused(t *testing.T) {
	for _, c := range [][2]int{{0, 16}, {-1, 16}, {4, 0}, {1 << 40, 16}} {
		if _, err := NewPool(c[0], c[1]); !errors.Is(err, ErrSize) {
			t.Errorf("%d blocks of %d: %v", c[0], c[1], err)
		}
	}
}
