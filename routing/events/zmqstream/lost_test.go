package zmqstream

import (
	"fmt"
	"testing"
	"time"

	"octet/internal/await"
	"octet/kvpool"
	"octet/routing/events"
	"octet/routing/index"
)

// One message is lost on its way, and the connection lives on: that a block in the middle went, or that one came. What
// follows shows the loss. With replay the index then holds what the engine holds; without, the replica is stale, so
// that routing credits nothing to it, until its cache is known again. MOD2-17, MOD2-52
func TestOneLostMessageIsReplayedOrDistrusted(t *testing.T) {
	for _, row := range []struct {
		name          string
		lost          events.Event
		depth, blocks int // at the engine, with the block that it stores afterwards
	}{
		{"an eviction", events.Event{Kind: events.Evicted, Hashes: []uint64{2}}, 1, 4},
		{"a store", events.Event{Kind: events.Registered, Hashes: []uint64{5}, Parent: 4, Tokens: ids(17, 4),
			BlockSize: 4}, 6, 6},
	} {
		for _, replay := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, replay %t", row.name, replay), func(t *testing.T) {
				config := loopback
				if !replay {
					config = PublisherConfig{Endpoint: loopback.Endpoint}
				}
				e := startEngine(t, config)
				c := newCell(t)
				consumer, _ := consume(t, e.consumer(), c.feed)
				await.True(t, "connected", func() bool { return consumer.Stats().Connected && subscribed(e.p) == 1 })
				e.grow(4)
				c.at(t, 4, false)
				e.lose(row.lost)
				if row.lost.Kind == events.Registered {
					e.held++
				}
				e.grow(1)
				if !replay {
					await.True(t, "stale", func() bool { return c.x.Stale() == index.HostSet(0) })
					e.publish(events.Event{Kind: events.Cleared})
					e.held = 0
					c.at(t, 0, false)
					e.grow(2)
					c.at(t, 2, false)
					return
				}
				var h kvpool.Hasher
				chain := h.Chain(nil, h.Root("debug", "", ""), ids(1, 4*8), 4)
				await.True(t, "what the engine holds", func() bool {
					var out [index.MaxHosts]uint16
					c.x.Depths(chain, index.HostSet(0), &out)
					return int(out[0]) == row.depth && c.x.Host(0).Blocks == row.blocks
				})
				if at := c.x.Host(0); at.Stale || at.Gaps > 0 {
					t.Errorf("%+v", at)
				}
			})
		}
	}
}

// lose numbers an event's message, and sends it to no subscriber. It can be replayed if the engine replays.
func (e *engine) lose(lost events.Event) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	e.p.ring.add(message{e.seq, e.p.encoder.encode(events.Batch{At: time.Unix(5, 0), Events: []events.Event{lost}})})
	e.seq++
}
