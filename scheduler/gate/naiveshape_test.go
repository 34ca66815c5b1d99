package gate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"octet/kvpool"
	"octet/scheduler"
	slow "octet/scheduler/internal/naive"
)

// naiveMore is what a request generates beside one sequence of one prompt, written out: every further prompt by its
// length and by how many of its full blocks an earlier one has.
type naiveMore struct {
	n       int // sequences of each prompt
	prompts []naivePrompt
}

type naivePrompt struct{ length, shared int }

func (m naiveMore) sequences() int { return max(m.n, 1) * (1 + len(m.prompts)) }

func (m naiveMore) tokens() (n int) {
	for _, p := range m.prompts {
		n += p.length
	}
	return n
}

// each is a sequence's part of so many tokens, dealt out one by one to all in turn: the most that one gets.
func (m naiveMore) each(tokens int) (most int) {
	dealt := make([]int, m.sequences())
	for i := range tokens {
		dealt[i%len(dealt)]++
		most = max(most, dealt[i%len(dealt)])
	}
	return most
}

func (m naiveMore) tail(size int) (most int) {
	for _, p := range m.prompts {
		most = max(most, p.length-(p.length-1)/size*size)
	}
	return most
}

func (m naiveMore) uncached(size int) (n int) {
	for _, p := range m.prompts {
		n += ((p.length-1)/size-p.shared)*size + m.tail(size)
	}
	return min(n, m.tokens())
}

// rest is m as the Gate is told of it.
func (m naiveMore) rest(size int) Further {
	r := Further{Prompts: len(m.prompts), Tokens: m.tokens(), Tail: m.tail(size)}
	for _, p := range m.prompts {
		r.Blocks += (p.length-1)/size - p.shared
	}
	return r
}

// needs counts the blocks of all sequences one by one: the prompt's full ones once, and behind them each sequence's
// own.
func (m *naiveGate) needs(s *naiveHold, more naiveMore, said, step int) (blocks int) {
	size, each := m.BlockSize, more.each(said)+step
	if more.sequences() == 1 {
		return m.Blocks(len(s.tokens) + each)
	}
	full := (len(s.tokens) - 1) / size
	blocks = full
	for range max(more.n, 1) {
		blocks += m.Blocks(len(s.tokens) - full*size + each)
	}
	for _, p := range more.prompts {
		blocks += (p.length-1)/size - p.shared
		for range max(more.n, 1) {
			blocks += m.Blocks(more.tail(size) + each)
		}
	}
	return blocks
}

func (m *naiveGate) sequences() (n int) {
	for _, t := range m.tickets {
		n += t.more.sequences()
	}
	return n
}

// rollMore is nothing more for most requests, else often a list of prompts that are the first again but for their
// tails. A further prompt shares no more full blocks than the longest of those before it has.
func rollMore(d *slow.Dice, size, first int) (m naiveMore) {
	if d.Roll(4) > 0 {
		return m
	}
	m.n = d.Roll(4)
	alike, earlier := d.Roll(2) > 0, (first-1)/size
	for range d.Roll(5) {
		if alike {
			m.prompts = append(m.prompts, naivePrompt{first, earlier})
			continue
		}
		length := 1 + d.Roll(2*size+2)
		full := (length - 1) / size
		m.prompts = append(m.prompts, naivePrompt{length, d.Roll(min(earlier, full) + 1)})
		earlier = max(earlier, full)
	}
	return m
}

// The figures of a gateway's users: 128 answers to one prompt, and 500 prompts of 1,000 ids.
func TestGateHoldsWhatAllSequencesNeed(t *testing.T) {
	prompts := make([]naivePrompt, 499)
	for i := range prompts {
		prompts[i] = naivePrompt{length: 1000}
	}
	alike := make([]naivePrompt, 499)
	for i := range alike {
		alike[i] = naivePrompt{length: 1000, shared: 60}
	}
	for _, c := range []struct {
		name        string
		prompt, new int
		more        naiveMore
		start, end  int // blocks
	}{
		{"one sequence", 600, 8, naiveMore{}, 38, 38},
		{"128 answers", 600, 8, naiveMore{n: 128}, 37 + 128, 37 + 128},
		{"128 answers that grow", 600, 100, naiveMore{n: 128}, 37 + 128, 37 + 128*7},
		{"500 prompts", 1000, 8, naiveMore{prompts: prompts}, 500 * 63, 500 * 63},
		{"500 prompts that begin alike", 1000, 8, naiveMore{prompts: alike}, 63 + 499*3, 63 + 499*3},
		{"two answers to three prompts", 16, 16, naiveMore{n: 2, prompts: []naivePrompt{{length: 33}, {length: 1}}},
			2*2 + 2 + 4, 2*2 + 2 + 2*2 + 2*2},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Unix(1, 0)
			g, err := New(Config{Blocks: 40_000, BlockSize: 16, MaxRunning: 1000,
				Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			r := Request{ID: "r", PromptTokens: c.prompt, N: c.more.n, Further: c.more.rest(16), MaxNew: c.new}
			ticket, err := g.Admit(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			held := func() int { s := g.Stats(); return s.Used + s.Reserved }
			if n := held(); n != c.start {
				t.Errorf("%d blocks at the start, want %d", n, c.start)
			}
			ticket.Grow((c.new - 1) * c.more.sequences()) // what one step more may need is held at once
			if n := held(); n != c.end {
				t.Errorf("%d blocks at the end, want %d", n, c.end)
			}
			if err := g.Check(); err != nil {
				t.Error(err)
			}
			if ticket.Release(); held() != 0 {
				t.Errorf("%d blocks are left", held())
			}
		})
	}
}

func TestARequestOfManySequencesRunsWhenNothingElseDoes(t *testing.T) {
	now := time.Unix(1, 0)
	g, err := New(Config{MaxRunning: 4, MaxWaiting: 4, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(n int) scheduler.State { return g.Probe(Request{ID: fmt.Sprint(n), N: n, PromptTokens: 1}).State }
	few, err := g.Admit(t.Context(), Request{ID: "few", N: 3, PromptTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	if ask(1) != scheduler.Admitted || ask(2) != scheduler.Waiting || ask(9) != scheduler.Waiting {
		t.Errorf("beside three of four: one is %v, two are %v, nine are %v", ask(1), ask(2), ask(9))
	}
	if few.Release(); ask(9) != scheduler.Admitted {
		t.Errorf("alone nine are %v", ask(9))
	}
}

func TestAnswersThatDoNotFitInThePoolAreRefused(t *testing.T) {
	now := time.Unix(1, 0)
	g, err := New(Config{Blocks: 512, BlockSize: 16, MaxRunning: 256, MaxWaiting: 4,
		Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]scheduler.State{1: scheduler.Admitted, 128: scheduler.Refused} {
		chain := []kvpool.BlockHash(nil)
		if a := g.Probe(Request{ID: "r", N: n, PromptTokens: 100, MaxNew: 8000, Chain: chain}); a.State != want {
			t.Errorf("%d answers of 8,000 tokens: %v (%v)", n, a.State, a.Reason)
		}
	}
}

// What a list's prompts share is held once, so that they may have more tokens together than the pool has; numbers that
// no pool holds are refused without being reckoned with.
func TestAListIsTooLargeByWhatItHoldsNotByItsTokens(t *testing.T) {
	const huge = math.MaxInt
	for _, c := range []struct {
		blocks, size int
		r            Request
		want         scheduler.State
	}{
		// drawn
		{3, 3, Request{PromptTokens: 1, Further: Further{Prompts: 2, Tokens: 11, Tail: 1}}, scheduler.Admitted},
		// drawn
		{3, 3, Request{PromptTokens: 1, Further: Further{Prompts: 2, Tokens: 10, Tail: 2}}, scheduler.Admitted},
		{5, 3, Request{PromptTokens: 8, Further: Further{Prompts: 2, Tokens: 16, Tail: 2}}, scheduler.Admitted},
		{4, 3, Request{PromptTokens: 8, Further: Further{Prompts: 2, Tokens: 16, Tail: 2}}, scheduler.Refused},
		{1560, 16, Request{PromptTokens: 1000,
			Further: Further{Prompts: 499, Tokens: 499_000, Blocks: 499 * 2, Tail: 8}},
			scheduler.Admitted},
		{1559, 16, Request{PromptTokens: 1000,
			Further: Further{Prompts: 499, Tokens: 499_000, Blocks: 499 * 2, Tail: 8}},
			scheduler.Refused},
		{40, 16, Request{PromptTokens: 1, Further: Further{Prompts: 1, Tokens: huge, Tail: 1}}, scheduler.Refused},
		{40, 16, Request{PromptTokens: 1, Further: Further{Prompts: 1, Tokens: 1, Tail: huge}}, scheduler.Refused},
		{40, 16, Request{PromptTokens: 1, Further: Further{Prompts: 1, Tokens: 1, Blocks: huge}}, scheduler.Refused},
		{40, 16, Request{PromptTokens: 1, Further: Further{Prompts: huge, Tokens: huge, Tail: 1}}, scheduler.Refused},
		{40, 16, Request{PromptTokens: 1, N: huge, Further: Further{Prompts: 1, Tokens: 1, Tail: 1}},
			scheduler.Refused},
	} {
		g, err := New(Config{Blocks: c.blocks, BlockSize: c.size, MaxRunning: 1000, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		if a := g.Probe(c.r); a.State != c.want || a.State == scheduler.Refused &&
			a.Reason != scheduler.ErrExceedsPool {
			t.Errorf("%d blocks of %d, %d tokens, %d each, and %+v: %v (%v)", c.blocks, c.size, c.r.PromptTokens, c.r.N,
				c.r.Further, a.State, a.Reason)
		}
	}
}

// A list that shares much loses little for what it frees: what its prompts share would be computed again once.
func TestAListIsAVictimForWhatItHolds(t *testing.T) {
	gated(t, Config{Blocks: 40, BlockSize: 16, MaxRunning: 10, MaxWaiting: 1}, func(t *testing.T, g *Gate) {
		alike := Further{Prompts: 4, Tokens: 4 * 160, Tail: 16}
		// 224 tokens in 19 blocks
		list := admitted(t, g, Request{ID: "list", PromptTokens: 160, Further: alike, Victim: true})
		one := admitted(t, g, Request{ID: "one", PromptTokens: 320, Victim: true}) // 320 in 21
		list.FirstToken()
		one.FirstToken()
		got := waits(t, g, Request{ID: "urgent", PromptTokens: 100, Priority: 1})
		if !told(list) || told(one) {
			t.Errorf("told to go: the list %t, the other %t", told(list), told(one))
		}
		list.Release()
		one.Release()
		wantTicket(t, got).Release()
	})
}
