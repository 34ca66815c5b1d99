package app_test

import (
	"fmt"
	"testing"

	"octet/engine/emulator"
	"octet/internal/redistest"
)

// cell is a gateway's own replicas; those of another cell have other names.
const cell = `
auth: {anonymous: true}
fleet: {probe_interval: 1h}
specialists:
  - name: debug
    tokenizer: builtin
    profile: cache-aware
    replicas:
      - {url: "%%s", name: %[1]s-0, blocks: 512}
      - {url: "%%s", name: %[1]s-1, blocks: 512}
`

// newCell starts a gateway and its engines, which publish to a stream that other cells use too.
func newCell(t *testing.T, name, redis string) *world {
	t.Helper()
	engines := pairOf()
	for i := range engines {
		p, err := redisPublisher(redis, "octet:kv")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		engines[i] = emulator.Config{Name: fmt.Sprint(name, "-", i), Model: "debug", Blocks: 512, Step: engines[i].Step,
			PrefillTPS: engines[i].PrefillTPS, Publisher: p}
	}
	return newWiredWorld(t, fmt.Sprintf(cell, name), engines, "events.redis.addr="+redis)
}

// MOD2-29: a cell is a gateway with replicas of its own. Two of them read one stream of events: each knows just what
// its own engines hold, and has no entry, no slot and no state for those of the other.
func TestCellsThatShareAStreamKnowTheirOwnReplicasAlone(t *testing.T) {
	server := redistest.Start(t)
	cells := map[string]*world{"east": newCell(t, "east", server.Addr), "west": newCell(t, "west", server.Addr)}
	for i := range 6 {
		for name, w := range cells {
			w.Post("/v1/chat/completions", lengthy(fmt.Sprint("in the ", name, " and elsewhere ", i)))
		}
	}
	cells["west"].Post("/v1/chat/completions", lengthy("only in the west"))
	for name, w := range cells {
		w.exact()
		eventually(t, name+" has read what the other's engines said",
			func() bool { return w.App.Fabric().Feed().Stats().Unknown > 0 })
		held := 0
		for _, e := range w.Engines {
			held += e.State().Cached
		}
		if st := w.App.Fabric().Index().Stats(); st.Blocks != held || held == 0 {
			t.Errorf("%s: the index holds %d blocks, its engines %d", name, st.Blocks, held)
		}
		if n := w.App.Fabric().Index().Alive().Count(); n != 2 {
			t.Errorf("%s: %d replicas in the index, want its own 2", name, n)
		}
		var shown struct{ Replicas map[string]any }
		w.Get(w.Admin+"/admin/index", &shown)
		if len(shown.Replicas) != 2 || shown.Replicas[name+"-0"] == nil || shown.Replicas[name+"-1"] == nil {
			t.Errorf("%s shows %v", name, shown.Replicas)
		}
	}
	// What is warm in one cell is cold in the other.
	for name, cold := range map[string]bool{"east": true, "west": false} {
		resp, _ := cells[name].Post("/v1/chat/completions", lengthy("only in the west"))
		if got := resp.Header.Get("X-Cached-Tokens"); (got == "0") != cold {
			t.Errorf("%s: %s cached tokens", name, got)
		}
	}
}
