package events_test

import (
	"context"
	"fmt"

	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/index"
	"octet/routing/index/runs"
)

// An engine and a gateway in one process.
func Example() {
	x, _ := runs.New(index.Config{})
	_ = x.Admit(0)
	hasher := kvpool.NewHasher(0)
	feed := events.NewFeed(x, hasher, func(replica string) (events.Target, bool) {
		return events.Target{Host: 0, Specialist: "debug", BlockSize: 4}, replica == "debug-0"
	})

	local := events.NewLocal(16)
	prompt := []uint32{1, 2, 3, 4, 5, 6, 7, 8}
	_ = local.Publish(context.Background(), events.Batch{Replica: "debug-0", Epoch: 1, Seq: 1, Events: []events.Event{
		{Kind: events.Registered, Root: true, Hashes: []uint64{0xa1, 0xa2}, Tokens: prompt, BlockSize: 4},
	}})
	ctx, cancel := context.WithCancel(context.Background())
	_ = local.Consume(ctx, until{feed, cancel})

	var depths [index.MaxHosts]uint16
	chain := hasher.Chain(nil, hasher.Root("debug", "", ""), prompt, 4)
	x.Depths(chain, index.HostSet(0), &depths)
	fmt.Println(depths[0], "blocks of the prompt are cached")
	// Output: 2 blocks of the prompt are cached
}

// until is a sink that ends its consumer after one batch.
type until struct {
	events.Sink
	end context.CancelFunc
}

func (u until) Deliver(b events.Batch) {
	u.Sink.Deliver(b)
	u.end()
}

// A message as a publisher in another language would write it.
func ExampleUnmarshal() {
	b, err := events.Unmarshal([]byte(`{"replica":"debug-0","epoch":"1","seq":"1","events":[
		{"kind":"REGISTERED","hashes":["11","12"],"root":true,"tokens":[1,2,3,4,5,6,7,8],"blockSize":4}]}`))
	fmt.Println(b.Replica, b.Seq, b.Events[0].Hashes, err)
	// Output: debug-0 1 [11 12] <nil>
}
