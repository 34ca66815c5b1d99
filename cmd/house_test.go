package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/config"
	"octet/routing/events"
	"octet/routing/plugins"
)

// MOD2-45, MOD2-51
func TestAReplicaThatRestartsIsIndexedAgain(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	host := w.house.residents["systems-0"].replica.Host
	epoch := w.house.index.Host(host).Epoch
	eventually(t, "the engine has published", func() bool { epoch = w.house.index.Host(host).Epoch; return epoch != 0 })
	last := w.house.index.Host(host).LastSeq
	w.house.feed.Deliver(events.Batch{Replica: "systems-0", Epoch: epoch, Seq: last + 1,
		Events: []events.Event{{Kind: events.Shutdown}}})
	if w.house.index.Alive().Has(host) {
		t.Fatal("the slot lives on after a shutdown")
	}
	eventually(t, "the slot is given back", func() bool { return w.house.index.Alive().Has(host) })
	w.house.feed.Deliver(events.Batch{Replica: "systems-0", Epoch: epoch + 1, Seq: 1, Events: []events.Event{
		{Kind: events.Registered, Hashes: []uint64{7}, Root: true, Tokens: make([]uint32, 16), BlockSize: 16}}})
	if got := w.house.index.Host(host); got.Blocks != 1 || got.Stale {
		t.Errorf("after the restart the index says %+v", got)
	}
}

// A replica keeps its slot, its connections and its ledger over a reload that does not concern it.
func TestAReloadMovesOnlyWhatChanged(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	before := w.house.residents["debug-0"]
	yaml := strings.NewReplacer("%s", "http://127.0.0.1:9").Replace(`
specialists:
  - {name: debug, tokenizer: builtin, adapters: [{name: gdb-v2}], scheduler: {max_running: 3}, replicas: [{url: "` + w.engines["debug-0"].url + `", blocks: 512, forward_priority: true}, {url: "%s", blocks: 512}]}
  - {name: fresh, replicas: [{url: "http://127.0.0.1:10", blocks: 8}]}
`)
	cfg, err := config.Parse("new.yaml", []byte(yaml), config.Options{Presets: plugins.Presets()})
	if err != nil {
		t.Fatal(err)
	}
	gone := w.house.residents["systems-0"].replica.Host
	if err := w.house.apply(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	after := w.house.residents["debug-0"]
	if after.replica.Gate != before.replica.Gate || after.client != before.client ||
		after.replica.Host != before.replica.Host {
		t.Error("debug-0 was replaced though nothing essential changed")
	}
	if moved := w.house.residents["debug-1"]; moved.replica.Host == before.replica.Host ||
		moved.replica.Client == w.house.residents["debug-0"].replica.Client {
		t.Error("debug-1 has another URL and is still the old one")
	}
	if w.house.index.Alive().Has(gone) || w.house.residents["systems-0"] != nil {
		t.Error("systems-0 lives on")
	}
	if resp, answer := w.post("/v1/chat/completions", systems); resp.StatusCode != 404 {
		t.Errorf("the removed specialist: status %d: %s", resp.StatusCode, answer)
	}
	if resp, answer := w.post("/v1/chat/completions", hello); resp.StatusCode != 200 {
		t.Errorf("the one that stayed: status %d: %s", resp.StatusCode, answer)
	}
}

// MEGA-32, MEGA-33: a pool's size comes from the configuration, from arithmetic, or from the engine, and stays.
func TestAPoolIsSizedByWhoeverKnows(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "specialists[1].replicas[0].blocks=0")
	eventually(t, "the engine tells its pool", func() bool {
		var state struct {
			Specialists []struct {
				Name  string
				Total int
			}
		}
		w.get(w.admin+"/admin/state", &state)
		return state.Specialists[1].Total == 512
	})
	if resp, answer := w.post("/v1/chat/completions", systems); resp.StatusCode != 200 {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
}

func TestAFileThatCannotServeIsRefusedBeforeAnythingMoves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "octet.yaml")
	good := "specialists: [{name: a, replicas: [{url: \"http://127.0.0.1:1\", blocks: 9}]}]\n"
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := load(path, []string{"fleet.probe_interval=1h"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHouse(cfg, testLog(t))
	if err != nil {
		t.Fatal(err)
	}
	h.reload = source{path: path}.reloader(h)
	if err := h.apply(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	defer h.close()
	generation := h.server.Runtime().Generation
	for _, bad := range []string{good + "profiles: {mine: {score: [{least-load: 1}], pick: nobody}}\n", good + good,
		"specialists: []\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.reload(t.Context()); err == nil {
			t.Errorf("taken over: %s", bad)
		}
	}
	if now := h.server.Runtime().Generation; now != generation {
		t.Errorf("generation went from %d to %d", generation, now)
	}
}
