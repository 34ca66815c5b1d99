package core_test

import (
	"fmt"

	"octet/scheduler/core"
)

// Two prompts are computed together, in chunks under a budget, and then decoded side by side.
func ExampleCore() {
	c, err := core.New(core.Config{Blocks: 16, BlockSize: 4, MaxRunning: 4, MaxWaiting: 8,
		TokenBudget: 8})
	if err != nil {
		panic(err)
	}
	for id := range uint64(2) {
		prompt := []uint32{1, 2, 3, 4, 5, 6, uint32(id)}
		if _, err := c.Add(core.Request{ID: id, Tokens: prompt, MaxNew: 2}, 0); err != nil {
			panic(err)
		}
	}
	for {
		batch := c.Assemble(0)
		if len(batch.Items) == 0 {
			break
		}
		results := make([]core.Result, len(batch.Items))
		for i, item := range batch.Items {
			fmt.Printf("step %d: %v of %d, tokens %d to %d\n", batch.Step, item.Mode, item.ID, item.Start,
				item.Start+len(item.Tokens)-1)
			results[i].ID = item.ID
			if item.Samples {
				results[i].Tokens = []uint32{42}
			}
		}
		c.Commit(batch, results, 0)
	}
	fmt.Println(c.Stats().Finished, "finished")
	// Output:
	// step 1: prefill of 0, tokens 0 to 6
	// step 1: prefill of 1, tokens 0 to 0
	// step 2: decode of 0, tokens 7 to 7
	// step 2: prefill of 1, tokens 1 to 6
	// step 3: decode of 1, tokens 7 to 7
	// 2 finished
}
