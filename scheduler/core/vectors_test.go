package core

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"octet/internal/vectors"
	"octet/scheduler"
)

// The cases of vLLM's scheduler with their own numbers. Its block 0 is reserved: here a pool has one block less.
func TestCorePlaysTheCasesOfVLLM(t *testing.T) {
	vectors.Run(t, "scheduler_vllm.json", vectors.Plays{
		"order_by_urgency":                       playOrder,
		"arrival_breaks_ties":                    playOrder,
		"mixed_urgency_and_arrival":              playOrder,
		"waiting_queue_iterates_in_order":        playWaiting,
		"pressure_preempts_least_urgent_running": playPressure,
		"no_preemption_when_room":                playRoom,
		"fcfs_pressure_preempts_last_admitted":   playLastAdmitted,
		"token_budget_with_and_without_chunking": playBudget,
		"skipped_index_after_preemption":         playVictimBeforeCursor,
	})
}

// The cases of admission that the source documents name.
func TestCorePlaysTheDocumentsCases(t *testing.T) {
	vectors.Run(t, "seeds.json", vectors.Plays{
		"admit_prompt_plus_one_decode_step": playAdmission,
		"speculative_admission_is_stricter": playSpeculation,
	})
}

// ask is one request of a case.
type ask struct {
	name             string
	prompt, priority int
	arrival          int
	draft            int
	answer           int // tokens; 20 if it is 0
}

func played(t *testing.T, cfg Config) *player {
	t.Helper()
	cfg.MaxWaiting = 16
	return &player{T: t, core: mustCore(t, cfg), ids: map[string]uint64{}}
}

// ask adds a request, and returns whether the next step would start it.
func (p *player) ask(a ask) (bool, error) {
	id := uint64(len(p.names) + 1)
	p.ids[a.name], p.names = id, append(p.names, a.name)
	r := asking(id, a.prompt, cmp.Or(a.answer, 20))
	r.Priority, r.Arrival, r.Draft = a.priority, scheduler.Time(a.arrival), a.draft
	answer, err := p.core.Add(r, scheduler.Time(a.arrival))
	if checked := p.core.Check(); checked != nil {
		p.Fatal(checked)
	}
	return answer.State == scheduler.Admitted, err
}

func (p *player) admits(a ask) bool {
	p.Helper()
	ok, err := p.ask(a)
	if err != nil {
		p.Fatal(err)
	}
	return ok
}

// steps assembles and commits one step, and returns the names of its requests, in order, and their tokens.
func (p *player) steps() (names []string, tokens []int) {
	p.batch = p.core.Assemble(0)
	for _, it := range p.batch.Items {
		names, tokens = append(names, p.names[it.ID-1]), append(tokens, len(it.Tokens))
	}
	p.commit(nil)
	if err := p.core.Check(); err != nil {
		p.Fatal(err)
	}
	return names, tokens
}

// preempted returns the requests that wait because they gave way.
func (p *player) preempted() []string {
	names := []string{}
	for _, name := range strings.Fields(p.waiting()) {
		if name, gaveWay := strings.CutSuffix(name, "(preempted)"); gaveWay {
			names = append(names, name)
		}
	}
	return names
}

func playOrder(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Requests []struct {
			ID               string
			Urgency, Arrival int
		}
	}
	c.Given(&given)
	p := played(t, Config{Blocks: 100, BlockSize: 16, MaxRunning: 16, TokenBudget: 1024})
	for _, r := range given.Requests {
		p.admits(ask{name: r.ID, prompt: 10, priority: r.Urgency, arrival: r.Arrival})
	}
	names, _ := p.steps()
	return vectors.Got{"scheduled_order": names}
}

func playWaiting(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		MaxSeqs          int `json:"max_seqs"`
		Urgency, Arrival map[string]int
	}
	c.Given(&given)
	p := played(t, Config{Blocks: 100, BlockSize: 16, MaxRunning: given.MaxSeqs, TokenBudget: 1024})
	for _, name := range slices.Sorted(maps.Keys(given.Urgency)) {
		p.admits(ask{name: name, prompt: 10, priority: given.Urgency[name], arrival: given.Arrival[name]})
	}
	names, _ := p.steps()
	return vectors.Got{"scheduled": names, "waiting_order": strings.Fields(p.waiting())}
}

// The steps are told in words: "lo(urgency -5, 32 tok) admitted …", "hi(urgency 0, 32 tok) arrives; …". Here an
// admission takes the blocks of its first step too, so lo gives way already when hi comes.
func playPressure(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		BlockSize int `json:"block_size"`
		Blocks    int `json:"num_blocks"`
		Steps     []string
	}
	c.Given(&given)
	p := played(t, Config{Blocks: given.Blocks - 1, BlockSize: given.BlockSize, MaxRunning: 4, TokenBudget: 1024})
	for i, step := range given.Steps[:2] {
		name, _, _ := strings.Cut(step, "(")
		numbers := vectors.Numbers(step)
		p.admits(ask{name: name, prompt: int(numbers[1]), priority: int(numbers[0]), arrival: i})
		p.steps()
	}
	p.steps()
	return vectors.Got{"preempted": p.preempted(), "running": strings.Fields(p.running())}
}

func playRoom(t *testing.T, c *vectors.Case) vectors.Got {
	type request struct{ Urgency, Tokens int }
	var given struct {
		MaxSeqs int `json:"max_seqs"`
		Running []request
		New     request
		Pool    string
	}
	c.Given(&given)
	p := played(t, Config{Blocks: 1000, BlockSize: 16, MaxRunning: given.MaxSeqs, TokenBudget: 1024})
	for i, r := range append(given.Running, given.New) {
		p.admits(ask{name: string(rune('a' + i)), prompt: r.Tokens, priority: r.Urgency, arrival: i})
		p.steps()
	}
	s := p.core.Stats()
	return vectors.Got{"running": s.Running, "waiting": s.Waiting, "preempted": s.Preemptions}
}

func playLastAdmitted(t *testing.T, c *vectors.Case) vectors.Got {
	type request struct{ Prompt, Blocks int }
	var given struct {
		BlockSize int     `json:"block_size"`
		Blocks    int     `json:"num_blocks"`
		Caching   bool    `json:"caching"` // no prompt has anything of the other
		First     request `json:"r0"`
		Second    request `json:"r1"`
	}
	c.Given(&given)
	p := played(t, Config{Blocks: given.Blocks - 1, BlockSize: given.BlockSize, MaxRunning: 4, TokenBudget: 1024})
	for i, r := range []request{given.First, given.Second} {
		p.admits(ask{name: []string{"r0", "r1"}[i], prompt: r.Prompt, arrival: i})
		if blocks := (r.Prompt + given.BlockSize - 1) / given.BlockSize; blocks != r.Blocks {
			t.Errorf("%d tokens take %d blocks, want %d", r.Prompt, blocks, r.Blocks)
		}
	}
	p.steps()
	p.steps()
	const reason = "admission counts the first step's block: r1 waits, and is not started to be thrown out a step later"
	c.Differs("preempted", reason)
	c.Differs("late_output", reason+", so no token of it can come late")
	return vectors.Got{"preempted": p.preempted(), "running": strings.Fields(p.running()),
		"late_output": vectors.Rule(strings.Contains(p.answers.String(), "r1#0"))}
}

func playBudget(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Budget  int `json:"max_batched_tokens"`
		MaxSeqs int `json:"max_seqs"`
		Queue   []int
	}
	c.Given(&given)
	p := played(t, Config{Blocks: 1000, BlockSize: 16, MaxRunning: given.MaxSeqs, TokenBudget: given.Budget})
	for i, tokens := range given.Queue {
		p.admits(ask{name: string(rune('a' + i)), prompt: tokens, arrival: i})
	}
	names, tokens := p.steps()
	c.Differs("no_chunking", "prefill is always chunked: a long prompt shares the step, and there is no mode in which "+
		"it holds up all behind it")
	return vectors.Got{"chunked_prefill": vectors.Got{"admitted": len(names), "tokens": tokens},
		"no_chunking": vectors.Got{"admitted": len(names), "rule": vectors.Rule(false)}}
}

// A's prompt is longer than the pool. Here it is refused, since it could never run to its end; then it is cut to what
// the pool can hold.
func playVictimBeforeCursor(t *testing.T, c *vectors.Case) vectors.Got {
	type request struct{ Tokens, Urgency int }
	var given struct {
		BlockSize int `json:"block_size"`
		Blocks    int `json:"num_blocks"`
		MaxSeqs   int `json:"max_seqs"`
		Chunk     int `json:"prefill_chunk"`
		A, B, C   request
	}
	c.Given(&given)
	c.Prose("why")
	p := played(t, Config{Blocks: given.Blocks - 1, BlockSize: given.BlockSize, MaxRunning: given.MaxSeqs,
		TokenBudget: given.Chunk})
	if _, err := p.ask(ask{name: "whole A", prompt: given.A.Tokens}); !errors.Is(err, scheduler.ErrExceedsPool) {
		t.Fatalf("%d tokens in %d blocks: %v", given.A.Tokens, given.Blocks-1, err)
	}
	given.A.Tokens = (given.Blocks-1)*given.BlockSize - 20
	for _, step := range []struct {
		name string
		request
		steps int
	}{{"A", given.A, 3}, {"B", given.B, 1}, {"C", given.C, 0}} {
		p.admits(ask{name: step.name, prompt: step.Tokens, priority: step.Urgency})
		for range step.steps {
			p.steps()
		}
	}
	for range 8 {
		names, _ := p.steps()
		if len(p.preempted()) > 0 {
			return vectors.Got{"C_scheduled_in_that_step": slices.Contains(names, "C") &&
				slices.Equal(p.preempted(), []string{"A"})}
		}
	}
	t.Fatal("A never gave way")
	return nil
}

// beside returns a Core that has so many blocks free beside a request that runs in one of its own.
func beside(t *testing.T, free, size int) *player {
	p := played(t, Config{Blocks: free + 1, BlockSize: size, MaxRunning: 4, TokenBudget: 1024})
	p.admits(ask{name: "other", prompt: size / 2})
	p.steps()
	if s := p.core.Stats(); s.Free != free {
		t.Fatalf("%d blocks are free, want %d", s.Free, free)
	}
	return p
}

type admission struct {
	Block  int
	Free   int `json:"free_blocks"`
	Prompt int
	Draft  int `json:"draft_window"`
}

func playAdmission(t *testing.T, c *vectors.Case) vectors.Got {
	var given admission
	c.Given(&given)
	c.Prose("why")
	admits := func(prompt int) bool {
		p := beside(t, given.Free, given.Block)
		fits := p.admits(ask{name: "asked", prompt: prompt, answer: 10})
		if names, _ := p.steps(); fits != slices.Contains(names, "asked") {
			t.Errorf("%d tokens: admitted %t, in the step are %v", prompt, fits, names)
		}
		return fits
	}
	return vectors.Got{"admit": admits(given.Prompt), "prompt_63": admits(given.Prompt - 1)}
}

// A request whose draft window does not fit starts on the plain lane: without drafts.
func playSpeculation(t *testing.T, c *vectors.Case) vectors.Got {
	var given admission
	c.Given(&given)
	p := beside(t, given.Free, given.Block)
	plain := p.admits(ask{name: "asked", prompt: given.Prompt, draft: given.Draft, answer: 10})
	p.batch = p.core.Assemble(0)
	room := 0
	for _, it := range p.batch.Items {
		if p.names[it.ID-1] == "asked" {
			room = len(it.Table)*given.Block - given.Prompt
		}
	}
	p.commit(nil)
	return vectors.Got{"spec": room > given.Draft, "plain": plain}
}
