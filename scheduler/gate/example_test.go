package gate_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/scheduler"
	"octet/scheduler/gate"
)

// An engine with 4 blocks of 16 tokens: what is larger is refused, and what fits holds its place until it is released.
func ExampleGate() {
	g, err := gate.New(gate.Config{Blocks: 4, BlockSize: 16, MaxRunning: 8, Now: time.Now})
	if err != nil {
		panic(err)
	}
	_, err = g.Admit(context.Background(), gate.Request{ID: "large", PromptTokens: 64})
	fmt.Println(errors.Is(err, scheduler.ErrRefused), errors.Is(err, scheduler.ErrExceedsPool))

	ticket, err := g.Admit(context.Background(), gate.Request{ID: "fits", PromptTokens: 40})
	fmt.Println(err, g.Stats().Free, "free")
	fmt.Println(g.Probe(gate.Request{ID: "next", PromptTokens: 20}).Reason)
	ticket.FirstToken() // from here on the prompt's blocks count as used
	ticket.Grow(16)     // told at block boundaries
	ticket.Release()
	fmt.Println(g.Stats().Free, "free")
	// Output:
	// true true
	// <nil> 1 free
	// queue full
	// 4 free
}
