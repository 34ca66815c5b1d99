package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/scheduler"
)

// Two prompts are computed together, in chunks under a budget, and then decoded side by side.
func ExampleCore() {
	core, err := scheduler.NewCore(scheduler.CoreConfig{Blocks: 16, BlockSize: 4, MaxRunning: 4, MaxWaiting: 8,
		TokenBudget: 8})
	if err != nil {
		panic(err)
	}
	for id := range uint64(2) {
		prompt := []uint32{1, 2, 3, 4, 5, 6, uint32(id)}
		if _, err := core.Add(scheduler.Request{ID: id, Tokens: prompt, MaxNew: 2}, 0); err != nil {
			panic(err)
		}
	}
	for {
		batch := core.Assemble(0)
		if len(batch.Items) == 0 {
			break
		}
		results := make([]scheduler.Result, len(batch.Items))
		for i, item := range batch.Items {
			fmt.Printf("step %d: %v of %d, tokens %d to %d\n", batch.Step, item.Mode, item.ID, item.Start,
				item.Start+len(item.Tokens)-1)
			results[i].ID = item.ID
			if item.Samples {
				results[i].Tokens = []uint32{42}
			}
		}
		core.Commit(batch, results, 0)
	}
	fmt.Println(core.Stats().Finished, "finished")
	// Output:
	// step 1: prefill of 0, tokens 0 to 6
	// step 1: prefill of 1, tokens 0 to 0
	// step 2: decode of 0, tokens 7 to 7
	// step 2: prefill of 1, tokens 1 to 6
	// step 3: decode of 1, tokens 7 to 7
	// 2 finished
}

// An engine with 4 blocks of 16 tokens: what is larger is refused, and what fits holds its place until it is released.
func ExampleGate() {
	gate, err := scheduler.NewGate(scheduler.GateConfig{Blocks: 4, BlockSize: 16, MaxRunning: 8, Now: time.Now})
	if err != nil {
		panic(err)
	}
	_, err = gate.Admit(context.Background(), scheduler.GateRequest{ID: "large", PromptTokens: 64})
	fmt.Println(errors.Is(err, scheduler.ErrRefused), errors.Is(err, scheduler.ErrExceedsPool))

	ticket, err := gate.Admit(context.Background(), scheduler.GateRequest{ID: "fits", PromptTokens: 40})
	fmt.Println(err, gate.Stats().Free, "free")
	fmt.Println(gate.Probe(scheduler.GateRequest{ID: "next", PromptTokens: 20}).Reason)
	ticket.FirstToken() // from here on the prompt's blocks count as used
	ticket.Grow(16)     // told at block boundaries
	ticket.Release()
	fmt.Println(gate.Stats().Free, "free")
	// Output:
	// true true
	// <nil> 1 free
	// queue full
	// 4 free
}
