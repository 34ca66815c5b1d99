package core

import "testing"

// One batch is out at a time, and it is settled once, by its own results.
func TestMisuseOfACorePanicsWithNumbers(t *testing.T) {
	c, err := New(loopSize)
	if err != nil {
		t.Fatal(err)
	}
	wantPanic(t, "settling step 0 of 0 items, but step 0 of 0 is the last (out: false)",
		func() { c.Commit(Batch{}, nil, 0) })
	if _, err := c.Add(asking(7, 5, 5), 0); err != nil {
		t.Fatal(err)
	}
	b := c.Assemble(0)
	wantPanic(t, "assembling step 2, but step 1 is out", func() { c.Assemble(0) })
	old := b
	old.Step = 9
	wantPanic(t, "settling step 9 of 1 items, but step 1", func() { c.Abort(old) })
	c.Abort(b)
	wantPanic(t, "settling step 1 of 1 items, but step 1 of 1 is the last (out: false)", func() { c.Abort(b) })
	b = c.Assemble(0)
	wantPanic(t, "2 results for the 1 items of step 2", func() { c.Commit(b, make([]Result, 2), 0) })
	c, _ = New(loopSize)
	_, _ = c.Add(asking(7, 5, 5), 0)
	b = c.Assemble(0)
	wantPanic(t, "step 1: 1 tokens for 8, expected 1 to 1 for 7",
		func() { c.Commit(b, []Result{{ID: 8, Tokens: []uint32{1}}}, 0) })
}

// A decode step allocates nothing: not for 8 sequences that fill blocks, share and publish, with a queue behind them.
func TestStepDoesNotAllocate(t *testing.T) {
	c, err := New(Config{Blocks: 4096, BlockSize: 4, MaxRunning: 8, MaxWaiting: 100, TokenBudget: 512})
	if err != nil {
		t.Fatal(err)
	}
	for id := range uint64(50) {
		if _, err := c.Add(asking(id, 20, 1500), 0); err != nil {
			t.Fatal(err)
		}
	}
	rs := benchStep(c, nil)
	for range 50 {
		rs = benchStep(c, rs)
	}
	if n := testing.AllocsPerRun(1000, func() { rs = benchStep(c, rs) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
	if s := c.Stats(); s.Running != 8 || s.Waiting != 42 {
		t.Errorf("%+v", s)
	}
}
