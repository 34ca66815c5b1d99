package app_test

import (
	"fmt"
	"testing"

	"octet/internal/redistest"
	"octet/routing/events"
	"octet/routing/events/redisstream"
)

// What an engine names without saying what it holds is remembered within events.index_memory, however much of it comes,
// and the gateway says so.
func TestBlocksOfUnknownContentTakeNoMoreThanTheirShareOfIndexMemory(t *testing.T) {
	const share = 16 << 20 / 4 / 8 / 2
	server := redistest.Start(t)
	p := redisAs(t, redisstream.Config{Addr: server.Addr, Publisher: "host-a"})
	w := newWiredWorld(t, fmt.Sprintf(pair, "", ""), pairOf(p, p), "events.redis.addr="+server.Addr,
		"events.index_memory=16MiB")
	w.follows("a leak in the allocator")
	for seq := range uint64(20) {
		e := events.Event{Kind: events.Registered, Parent: 1 << 60, BlockSize: 16}
		for i := range uint64(1000) {
			e.Hashes = append(e.Hashes, 1<<61+seq*1000+i)
		}
		if err := p.Publish(t.Context(),
			events.Batch{Replica: "debug-0", Epoch: 1 << 62, Seq: seq, Events: []events.Event{e}}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all of it is read",
		func() bool { st := w.App.Fabric().Feed().Stats(); return st.Ignored+uint64(st.Blocks) >= 20_000 })
	var seen struct {
		Sources struct {
			Feed struct {
				Waiting int64 `json:"waiting_bytes"`
			}
		}
	}
	w.Get(w.Admin+"/admin/index", &seen)
	if got := seen.Sources.Feed.Waiting; got == 0 || got > share {
		t.Errorf("%d bytes of unknown blocks, %d allowed", got, share)
	}
	if code := w.Get(w.Admin+"/metrics", nil); code != 200 {
		t.Errorf("metrics: %d", code)
	}
}
