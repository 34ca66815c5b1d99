package approx

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"octet/kvpool"
	"octet/routing/index"
)

var start = time.Unix(1_700_000_000, 0)

func open(t testing.TB, c Config) *Index {
	t.Helper()
	x, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func chain(n int, from kvpool.BlockHash) []kvpool.BlockHash {
	out := make([]kvpool.BlockHash, n)
	for i := range out {
		out[i] = from + kvpool.BlockHash(i)
	}
	return out
}

func depth(x *Index, h index.HostID, c []kvpool.BlockHash, now time.Time) int {
	var out [index.MaxHosts]uint16
	x.Depths(c, index.HostSet(h), now, &out)
	return int(out[h])
}

func TestRoutedPromptCountsUntilItsTimeIsOver(t *testing.T) {
	x := open(t, Config{TTL: time.Minute})
	c := chain(8, 100)
	x.Routed(3, c[:6], start)
	for _, row := range []struct {
		after time.Duration
		want  int
	}{{0, 6}, {time.Minute - 1, 6}, {time.Minute, 0}} {
		if got := depth(x, 3, c, start.Add(row.after)); got != row.want {
			t.Errorf("after %v it is %d deep, want %d", row.after, got, row.want)
		}
	}
	if got := depth(x, 4, c, start); got != 0 {
		t.Errorf("another replica is %d deep", got)
	}
	x.Routed(3, c[:2], start.Add(50*time.Second))
	if got := depth(x, 3, c, start.Add(70*time.Second)); got != 2 {
		t.Errorf("routed again in part it is %d deep, want 2", got)
	}
}

func TestBoundDropsTheEndsOfTheLeastRecentlyRouted(t *testing.T) {
	x := open(t, Config{Blocks: 10})
	a, b := chain(6, 100), chain(6, 200)
	x.Routed(0, a, start)
	x.Routed(0, b, start)
	if da, db := depth(x, 0, a, start), depth(x, 0, b, start); da != 4 || db != 6 {
		t.Errorf("depths %d and %d, want 4 and 6", da, db)
	}
	x.Bound(0, 3)
	if da, db := depth(x, 0, a, start), depth(x, 0, b, start); da != 0 || db != 3 {
		t.Errorf("bound to 3, depths are %d and %d, want 0 and 3", da, db)
	}
	x.Routed(0, chain(50, 300), start)
	if d, n := depth(x, 0, chain(50, 300), start), x.Held(0); d != 3 || n != 3 {
		t.Errorf("a prompt beyond the bound is %d deep in %d blocks, want 3", d, n)
	}
}

// GAIE-24
func TestTruthTakesTheGuessesPlace(t *testing.T) {
	x := open(t, Config{})
	c := chain(8, 100)
	all := index.HostSet(1)
	x.Routed(1, c, start)
	x.Heard(index.Batch{Host: 1, Ops: []index.Op{{Kind: index.Store, RootKnown: true, Blocks: c[:3]}}})
	if got := depth(x, 1, c, start); got != 0 {
		t.Errorf("by guesses alone it is %d deep, though the first blocks are not guesses any more", got)
	}
	var out [index.MaxHosts]uint16
	out[1] = 3
	if x.Extend(c, all, start, &out); out[1] != 8 {
		t.Errorf("3 known blocks and 5 guessed are %d", out[1])
	}
	x.Heard(index.Batch{Host: 1, Ops: []index.Op{{Kind: index.Remove, Blocks: c[5:6]}}})
	out[1] = 3
	if x.Extend(c, all, start, &out); out[1] != 5 {
		t.Errorf("with block 5 known to be gone it is %d deep, want 5", out[1])
	}
	x.Heard(index.Batch{Host: 1, Ops: []index.Op{{Kind: index.Clear}}})
	if n := x.Held(1); n != 0 {
		t.Errorf("%d guesses outlive a cleared cache", n)
	}
}

func TestForgetAndNonsenseLeaveOthersAlone(t *testing.T) {
	x := open(t, Config{})
	c := chain(4, 1)
	x.Routed(1, c, start)
	x.Routed(2, c, start)
	x.Forget(1)
	x.Forget(index.MaxHosts)
	x.Routed(index.MaxHosts, c, start)
	x.Bound(index.MaxHosts, 1)
	x.Bound(2, 0)
	x.Heard(index.Batch{Host: index.MaxHosts})
	x.Routed(2, nil, start)
	if a, b := depth(x, 1, c, start), depth(x, 2, c, start); a != 0 || b != 4 || x.Held(index.MaxHosts) != 0 {
		t.Errorf("depths %d and %d, want 0 and 4", a, b)
	}
	if depth(x, 2, nil, start) != 0 {
		t.Error("an empty chain has a depth")
	}
	for _, c := range []Config{{TTL: -1}, {Blocks: -1}} {
		if _, err := New(c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestAnotherTimeToLiveBeginsAnew(t *testing.T) {
	x := open(t, Config{TTL: time.Hour})
	c := chain(4, 1)
	x.Routed(1, c, start)
	x.Last(1, time.Second)
	x.Last(index.MaxHosts, time.Second)
	if got := depth(x, 1, c, start); got != 0 {
		t.Errorf("%d blocks for an hour where it is a second", got)
	}
	x.Routed(1, c, start)
	x.Last(1, time.Second)
	if a, b := depth(x, 1, c, start.Add(time.Second-1)), depth(x, 1, c, start.Add(time.Second)); a != 4 || b != 0 {
		t.Errorf("depths %d and %d, want 4 and 0", a, b)
	}
	x.Last(1, 0)
	x.Routed(1, c, start)
	if n := x.Held(1); n != 0 {
		t.Errorf("%d blocks where nothing is to count", n)
	}
}

// GAIE-43
func TestStatsTellSizeAndHitRatio(t *testing.T) {
	x := open(t, Config{})
	c := chain(8, 1)
	x.Routed(1, c[:4], start)
	x.Routed(2, c[:2], start)
	x.Routed(1, c, start) // half of it is there
	if got, want := x.Stats(), (Stats{Blocks: 10, Routed: 14, Found: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// oracle is the same by lists: what counts is looked for from the start, every time.
type oracle struct {
	bound int
	order []kvpool.BlockHash // least recent first
	until map[kvpool.BlockHash]time.Time
}

func (o *oracle) drop(b kvpool.BlockHash) {
	for i, have := range o.order {
		if have == b {
			o.order = append(o.order[:i:i], o.order[i+1:]...)
			break
		}
	}
	delete(o.until, b)
}

func (o *oracle) route(c []kvpool.BlockHash, until time.Time) {
	c = c[:min(len(c), o.bound)]
	for i := len(c) - 1; i >= 0; i-- {
		o.drop(c[i])
		o.order = append(o.order, c[i])
		o.until[c[i]] = until
	}
	for len(o.order) > o.bound {
		o.drop(o.order[0])
	}
}

func (o *oracle) depth(c []kvpool.BlockHash, from int, now time.Time) int {
	for from < len(c) && o.until[c[from]].After(now) {
		from++
	}
	return from
}

// Prompts of a small tree of prefixes, two replicas, a clock that moves: every depth equals the oracle's.
func TestDepthsEqualAListsDepths(t *testing.T) { checkDepths(t, 12, 24, 3) }

// The same of replicas of which nothing is heard, with chains that fall into many runs.
func TestDepthsByRunsEqualAListsDepths(t *testing.T) { checkDepths(t, 40, 120, 2) }

func checkDepths(t *testing.T, longest, most, kinds int) {
	const ttl = 10 * time.Second
	rapid.Check(t, func(t *rapid.T) {
		bound := rapid.IntRange(1, most).Draw(t, "bound")
		x, _ := New(Config{TTL: ttl, Blocks: bound})
		want := [2]oracle{{bound: bound, until: map[kvpool.BlockHash]time.Time{}},
			{bound: bound, until: map[kvpool.BlockHash]time.Time{}}}
		now := start
		prompt := rapid.Custom(func(t *rapid.T) []kvpool.BlockHash {
			var c []kvpool.BlockHash
			h := kvpool.BlockHash(1)
			for range rapid.IntRange(0, longest).Draw(t, "length") {
				h = h*7 + kvpool.BlockHash(rapid.IntRange(0, 15).Draw(t, "branch")/15)
				c = append(c, h)
			}
			return c
		})
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			id := index.HostID(rapid.IntRange(0, 1).Draw(t, "host"))
			c := prompt.Draw(t, "prompt")
			switch rapid.IntRange(0, kinds).Draw(t, "what") {
			case 0, 1:
				x.Routed(id, c, now)
				want[id].route(c, now.Add(ttl))
			case 2:
				now = now.Add(time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond)
			case 3:
				part := c[len(c)/2:]
				x.Heard(index.Batch{Host: id, Ops: []index.Op{{Kind: index.Remove, Blocks: part}}})
				for _, b := range part {
					want[id].drop(b)
				}
			}
			asked := prompt.Draw(t, "asked")
			from := rapid.IntRange(0, len(asked)).Draw(t, "from")
			var out [index.MaxHosts]uint16
			out[0], out[1] = uint16(from), uint16(from)
			x.Extend(asked, index.HostSet(0, 1), now, &out)
			for i := range want {
				if got, want := int(out[i]), want[i].depth(asked, from, now); got != want {
					t.Fatalf("host %d: %d deep from %d, want %d", i, got, from, want)
				}
				if n := x.Held(index.HostID(i)); n > bound {
					t.Fatalf("host %d keeps %d blocks of %d", i, n, bound)
				}
				checkRuns(t, &x.hosts[i].runs)
			}
		}
	})
}

// checkRuns holds the ring, the heads and the count to each other.
func checkRuns(t *rapid.T, s *runRing) {
	n, blocks := 0, 0
	if s.blocks > 0 {
		last := int64(0)
		for r := s.ends.newer; r != &s.ends; r = r.newer {
			if until := r.until.Load(); len(r.blocks) == 0 || s.find(r.blocks[0]) != r || until < last ||
				r.newer.older != r {
				t.Fatalf("a run of %d blocks until %d after %d, its head leads to it: %v", len(r.blocks), until, last,
					s.find(r.blocks[0]) == r)
			}
			n, blocks, last = n+1, blocks+len(r.blocks), r.until.Load()
		}
	}
	heads := 0
	if h := s.heads.Load(); h != nil {
		heads = h.used
	}
	if blocks != s.blocks || n != heads {
		t.Fatalf("%d blocks in %d runs, counted %d under %d heads", blocks, n, s.blocks, heads)
	}
}

// BenchmarkRouted is a prompt of 1024 blocks that is sent again, half of which others share.
func BenchmarkRouted(b *testing.B) {
	x := open(b, Config{})
	var prompts [32][]kvpool.BlockHash
	for i := range prompts {
		prompts[i] = append(chain(512, 1), chain(512, kvpool.BlockHash(10_000*(i+1)))...)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Routed(1, prompts[i%len(prompts)], start)
	}
}

func BenchmarkDepths(b *testing.B) {
	for _, hosts := range []int{8, 64} {
		b.Run(fmt.Sprintf("replicas=%d", hosts), func(b *testing.B) {
			x := open(b, Config{})
			c := chain(32, 1)
			var all index.HostBitmap
			for h := range index.HostID(hosts) {
				all.Set(h)
				x.Routed(h, c[:int(h)%8*4], start)
			}
			var out [index.MaxHosts]uint16
			b.ReportAllocs()
			for b.Loop() {
				x.Depths(c, all, start, &out)
			}
		})
	}
}
