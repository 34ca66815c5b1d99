package kvpool

import (
	"slices"
	"testing"

	"octet/internal/vectors"
)

// The cases of vLLM's pool with their own numbers. Its block 0 is reserved and its ids begin at 1; here a pool has one
// block less, and ids are one lower.
func TestPoolPlaysTheCasesOfVLLM(t *testing.T) {
	vectors.Run(t, "kv_pool_vllm.json", vectors.Plays{
		"prefill_miss_allocates_ceil_blocks":         playMiss,
		"prefix_hit_while_in_use_bumps_refcount":     playHitInUse,
		"free_order_after_two_sharers_finish":        playFreeOrder,
		"full_eviction_order_is_free_queue_order":    playEvictionOrder,
		"decode_fills_partial_without_new_block":     playDecode,
		"decode_crossing_boundary_hashes_full_block": playDecodeAcross,
		"reused_block_drops_stale_hash":              playReuse,
		"hit_block_is_not_the_eviction_victim":       playHitIsNoVictim,
		"caching_disabled_never_hits":                playNoCaching,
		"salt_separates_caches":                      playSalts,
		"hash_chain_definition":                      playChain,
		"free_queue_mid_removal_and_tail_append":     playFreeQueue,
		"lookahead_reserves_blocks":                  playLookahead,
	})
}

// another is where the tokens of a prompt begin that shares nothing with those from 0 on.
const another = 1 << 20

// ids returns blocks as vLLM numbers them.
func ids(blocks []BlockID) []int {
	out := []int{}
	for _, b := range blocks {
		out = append(out, int(b)+1)
	}
	return out
}

// parted returns the blocks of t that have content that can be shared, and those that have none.
func (f *fixture) parted(t *Table) (hashed, unhashed []BlockID) {
	for _, id := range t.Blocks() {
		if f.blocks[id].run > private {
			hashed = append(hashed, id)
		} else {
			unhashed = append(unhashed, id)
		}
	}
	return hashed, unhashed
}

// refsOfAll returns the references that all of blocks have, -1 if they differ.
func (f *fixture) refsOfAll(blocks []BlockID) int {
	n := f.refs(blocks[0])
	if slices.ContainsFunc(blocks, func(id BlockID) bool { return f.refs(id) != n }) {
		return -1
	}
	return n
}

func playMiss(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize    int   `json:"block_size"`
		PoolBlocks   int   `json:"pool_blocks"`
		PromptTokens int   `json:"prompt_tokens"`
		Cached       []int `json:"cached"`
	}
	c.Given(&given)
	f := newFixture(t, given.PoolBlocks-1, given.BlockSize)
	table, reused := f.prompt(sequential(given.PromptTokens, 0))
	hashed, unhashed := f.parted(table)
	return vectors.Got{
		"blocks": ids(table.Blocks()), "hashed": ids(hashed), "unhashed": ids(unhashed),
		"ref_counts": f.refsOfAll(table.Blocks()), "computed_tokens": reused * given.BlockSize,
	}
}

func playHitInUse(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize  int `json:"block_size"`
		PoolBlocks int `json:"pool_blocks"`
		Running    []struct {
			Req, Tokens int
			Blocks      []int
		}
		NewReq struct {
			Shared int `json:"shared_prefix_tokens"`
			Tokens int
		} `json:"new_req"`
	}
	c.Given(&given)
	f := newFixture(t, given.PoolBlocks-1, given.BlockSize)
	for _, r := range given.Running {
		if first, _ := f.prompt(sequential(r.Tokens, 0)); !slices.Equal(ids(first.Blocks()), r.Blocks) {
			t.Fatalf("request %d runs in %v, want %v", r.Req, ids(first.Blocks()), r.Blocks)
		}
	}
	shared := given.NewReq.Shared
	second, reused := f.prompt(append(sequential(shared, 0), sequential(given.NewReq.Tokens-shared, another)...))
	hits, fresh := second.Blocks()[:reused], second.Blocks()[reused:]
	return vectors.Got{
		"hit_blocks": ids(hits), "computed_tokens": reused * given.BlockSize, "new_blocks": ids(fresh),
		"ref_count_of_hit_blocks": f.refsOfAll(hits), "free_blocks": f.Pool.Free(),
	}
}

// twoSharers has two prompts run that share their full blocks, and end.
func twoSharers(t *testing.T, blocks, size int, first, second []int) *fixture {
	f := newFixture(t, blocks, size)
	shared := 0
	for shared < len(first) && first[shared] == second[shared] {
		shared++
	}
	a, _ := f.prompt(sequential(shared*size+1, 0))
	b, _ := f.prompt(append(sequential(shared*size, 0), another))
	if !slices.Equal(ids(a.Blocks()), first) || !slices.Equal(ids(b.Blocks()), second) {
		t.Fatalf("in %v and %v, want %v and %v", ids(a.Blocks()), ids(b.Blocks()), first, second)
	}
	f.release(a, b)
	return f
}

// order takes all blocks, one after the other, and returns them in that order.
func (f *fixture) order() []int {
	t := &Table{}
	f.tables = append(f.tables, t)
	for f.Extend(t, t.Len()+1) {
		f.check()
	}
	return ids(t.Blocks())
}

func playFreeOrder(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize  int   `json:"block_size"`
		PoolBlocks int   `json:"pool_blocks"`
		First      []int `json:"req0_blocks"`
		Second     []int `json:"req1_blocks"`
		Unhashed   []int `json:"unhashed_blocks"`
	}
	c.Given(&given)
	f := twoSharers(t, given.PoolBlocks-1, given.BlockSize, given.First, given.Second)
	for _, id := range given.Unhashed {
		if f.blocks[id-1].run > private {
			t.Errorf("block %d has content that can be shared", id)
		}
	}
	free := f.Pool.Free()
	return vectors.Got{"free_queue_head_to_tail": f.order(), "free_blocks": free}
}

// The queue that is given is the one that two sharers leave: the first of its end, turned round, were shared.
func playEvictionOrder(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Queue     []int `json:"free_queue"`
		BlockSize int   `json:"block_size"`
		Tokens    int   `json:"new_req_tokens"`
		Unshared  bool  `json:"no_shared_prefix"`
	}
	c.Given(&given)
	n := len(given.Queue)
	shared := []int{given.Queue[n-1], given.Queue[n-2], given.Queue[n-3]}
	first, second := append(slices.Clone(shared), given.Queue[1]), append(shared, given.Queue[0])
	f := twoSharers(t, n, given.BlockSize, first, second)
	table, reused := f.prompt(sequential(given.Tokens, another))
	if given.Unshared != (reused == 0) {
		t.Errorf("%d blocks are shared", reused)
	}
	return vectors.Got{"new_blocks_in_order": ids(table.Blocks()), "free_blocks": f.Pool.Free()}
}

type decoding struct {
	BlockSize int `json:"block_size"`
	Computed  int `json:"tokens_computed"`
	Blocks    int
	Append    int
}

// decoded computes a prompt, then the tokens behind it.
func decoded(t *testing.T, c *vectors.Case) (f *fixture, table *Table, before int) {
	var given decoding
	c.Given(&given)
	f = newFixture(t, 2*given.Blocks, given.BlockSize)
	tokens := sequential(given.Computed+given.Append, 0)
	table, _ = f.prompt(tokens[:given.Computed])
	if before = table.Len(); before != given.Blocks {
		t.Fatalf("%d tokens take %d blocks", given.Computed, before)
	}
	if !f.Extend(table, f.Blocks(len(tokens))) {
		t.Fatal("no room")
	}
	for i, h := range chainOf(tokens, given.BlockSize) {
		f.Seal(table, i, h)
	}
	f.check()
	return f, table, before
}

func (f *fixture) hashed(t *Table, i int) bool { return f.blocks[t.Blocks()[i]].run > private }

func playDecode(t *testing.T, c *vectors.Case) vectors.Got {
	f, table, before := decoded(t, c)
	return vectors.Got{"new_blocks": table.Len() - before, "last_block_hashed": f.hashed(table, table.Len()-1)}
}

func playDecodeAcross(t *testing.T, c *vectors.Case) vectors.Got {
	f, table, before := decoded(t, c)
	return vectors.Got{
		"new_blocks": table.Len() - before, "previous_last_block_hashed": f.hashed(table, before-1),
		"new_last_block_hashed": f.hashed(table, table.Len()-1),
	}
}

func playReuse(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize  int `json:"block_size"`
		PoolBlocks int `json:"pool_blocks"`
		Req0       struct{ Tokens int }
	}
	c.Given(&given)
	n := c.Numbers(1) // "req0" is a word
	f := newFixture(t, given.PoolBlocks-1, given.BlockSize)
	first, _ := f.prompt(sequential(given.Req0.Tokens, 0))
	f.release(first)
	second, reused := f.prompt(sequential(int(n[0]), 0))
	got := vectors.Got{"hit_blocks": ids(second.Blocks()[:reused]), "new_blocks": second.Len() - reused,
		"block_hash_of_new_block": nil}
	if f.hashed(second, 0) || f.Match(chainOf(sequential(given.Req0.Tokens, 0), given.BlockSize)) > 0 {
		got["block_hash_of_new_block"] = "a stale one"
	}
	return got
}

func playHitIsNoVictim(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize  int `json:"block_size"`
		PoolBlocks int `json:"pool_blocks"`
		CachedFree []struct {
			ID     int
			Tokens string
		} `json:"cached_free"`
	}
	c.Given(&given)
	n := c.Numbers(3) // tokens, those that match, and the block that they do
	f := newFixture(t, given.PoolBlocks-1, given.BlockSize)
	var held []*Table
	for i, cached := range given.CachedFree {
		table, _ := f.prompt(sequential(given.BlockSize, uint32(i)*another))
		if got := ids(table.Blocks()); got[0] != cached.ID {
			t.Fatalf("cached in %v, want %d", got, cached.ID)
		}
		held = append(held, table)
	}
	f.release(held...)
	matching, tokens := int(n[1]), int(n[0])
	third, reused := f.prompt(append(sequential(matching, 0), sequential(tokens-matching, 9*another)...))
	return vectors.Got{"hit_blocks": ids(third.Blocks()[:reused]), "computed_tokens": reused * given.BlockSize,
		"new_blocks": ids(third.Blocks()[reused:])}
}

// There is no switch that turns the cache off: each request has a salt of its own.
func playNoCaching(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize  int  `json:"block_size"`
		PoolBlocks int  `json:"pool_blocks"`
		Caching    bool `json:"caching"`
		First      int  `json:"req1_tokens"`
	}
	c.Given(&given)
	n := c.Numbers(2)
	f := newFixture(t, given.PoolBlocks-1, given.BlockSize)
	own := func(tokens int, salt string) (table *Table, hits int) {
		var h Hasher
		chain := h.Chain(nil, h.Root("debug", "", salt), sequential(tokens, 0), given.BlockSize)
		table = &Table{}
		f.tables = append(f.tables, table)
		hits = f.Share(table, chain)
		if !f.Extend(table, f.Blocks(tokens)) {
			return nil, hits
		}
		for i, hash := range chain {
			f.Seal(table, i, hash)
		}
		f.check()
		return table, hits
	}
	first, _ := own(given.First, "1")
	got := vectors.Got{"req1_blocks": first.Len()}
	f.release(first)
	second, hits := own(int(n[0]), "2")
	got["req2_hits"], got["req2_blocks"], got["req3_allocation"] = hits, second.Len(), nil
	if third, _ := own(int(n[1]), "3"); third != nil {
		got["req3_allocation"] = ids(third.Blocks())
	}
	return got
}

func playSalts(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize int    `json:"block_size"`
		Blocks    int    `json:"prompt_full_blocks"`
		Salt      string `json:"salt_req0"`
	}
	c.Given(&given)
	var h Hasher
	f := newFixture(t, 3*given.Blocks, given.BlockSize)
	tokens := sequential(given.Blocks*given.BlockSize, 0)
	if n := c.Numbers(1); int(n[0]) != len(tokens) {
		t.Fatalf("%d tokens, want %d", len(tokens), int(n[0]))
	}
	chain := h.Chain(nil, h.Root("debug", "", given.Salt), tokens, given.BlockSize)
	table := &Table{}
	f.tables = append(f.tables, table)
	f.Extend(table, given.Blocks)
	for i, hash := range chain {
		f.Seal(table, i, hash)
	}
	f.check()
	other := h.Chain(nil, h.Root("debug", "", given.Salt+"2"), tokens, given.BlockSize)
	behind := h.Chain(nil, chain[0], tokens[given.BlockSize:], given.BlockSize)
	return vectors.Got{"hits_same_salt": f.Match(chain), "hits_other_salt": f.Match(other),
		"salt_enters_hash_of": vectors.Rule(slices.Equal(behind, chain[1:]) && chain[0] != other[0])}
}

func playChain(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize int `json:"block_size"`
		Tokens    []uint32
	}
	c.Given(&given)
	var h Hasher
	size, root := given.BlockSize, h.Root("debug", "", "")
	chain := h.Chain(nil, root, given.Tokens, size)
	got := vectors.Got{"h0": "another", "h1": "another"}
	if chain[0] == h.Next(root, given.Tokens[:size]) {
		got["h0"] = says("ROOT", given.Tokens[:size])
	}
	if chain[1] == h.Next(chain[0], given.Tokens[size:]) {
		got["h1"] = says("h0", given.Tokens[size:])
	}
	tokens := slices.Clone(given.Tokens)
	tokens[0]++
	other := h.Chain(nil, root, tokens, size)
	got["property"] = vectors.Rule(chain[0] != other[0] && chain[1] != other[1])
	return got
}

func says(parent string, tokens []uint32) vectors.Says {
	said := vectors.Says{parent}
	for _, token := range tokens {
		said = append(said, token)
	}
	return said
}

// Each block of the queue is a cached prompt of its own, idle since its turn. To remove it from the middle is to share
// it, to append it is to release it. Looking at the queue empties it, so each look is at one made anew.
func playFreeQueue(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Queue []int }
	c.Given(&given)
	n := c.Numbers(3) // the one removed, the one appended, and how many are popped then
	prompt := func(i int) []uint32 { return sequential(4, uint32(i)*another) }
	popped := 0
	queue := func(change func(f *fixture, removed *Table)) *fixture {
		f := newFixture(t, len(given.Queue), 4)
		var held []*Table
		for range given.Queue {
			table, _ := f.prompt(prompt(len(held)))
			held = append(held, table)
		}
		for _, id := range given.Queue {
			f.release(held[id])
		}
		head, removed := &Table{}, &Table{}
		f.tables = append(f.tables, head, removed)
		f.Extend(head, 1)
		popped = int(head.Blocks()[0])
		if f.Share(removed, chainOf(prompt(int(n[0])), 4)) != 1 || int(removed.Blocks()[0]) != int(n[0]) {
			t.Fatalf("removed %v", removed.Blocks())
		}
		if change != nil {
			change(f, removed)
		}
		f.check()
		return f
	}
	left := func(f *fixture) (blocks []BlockID) {
		for _, id := range f.order() {
			blocks = append(blocks, BlockID(id-1))
		}
		return blocks
	}
	appended := func() *fixture { return queue(func(f *fixture, removed *Table) { f.release(removed) }) }
	last, table := appended(), &Table{}
	last.tables = append(last.tables, table)
	all := last.Extend(table, int(n[2]))
	return vectors.Got{
		"after_remove": left(queue(nil)), "pop": popped, "after_append": left(appended()),
		"last_pop": vectors.Rule(all && !last.Extend(table, int(n[2])+1)),
	}
}

func playLookahead(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize int `json:"block_size"`
		Tokens    int `json:"new_tokens"`
	}
	c.Given(&given)
	n := c.Numbers(2)
	f := newFixture(t, 8, given.BlockSize)
	blocks := func(lookahead float64) int {
		table := &Table{}
		f.tables = append(f.tables, table)
		f.Extend(table, f.Blocks(given.Tokens+int(lookahead)))
		f.check()
		return table.Len()
	}
	return vectors.Got{"blocks_lookahead_2": blocks(n[0]), "blocks_lookahead_4": blocks(n[1])}
}
