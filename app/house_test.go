package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"octet/app"
	"octet/config"
	"octet/internal/apptest"
	"octet/routing/events"
	"octet/routing/plugins"
)

// MOD2-45, MOD2-51
//
//nolint:lll // raw text that cannot be broken
func TestAReplicaThatRestartsIsIndexedAgain(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	host := w.Replica("systems-0").Host
	epoch := w.App.Fabric().Index().Host(host).Epoch
	eventually(t, "the engine has published", func() bool { epoch = w.App.Fabric().Index().Host(host).Epoch; return epoch != 0 })
	last := w.App.Fabric().Index().Host(host).LastSeq
	w.App.Fabric().Feed().Deliver(events.Batch{Replica: "systems-0", Epoch: epoch, Seq: last + 1,
		Events: []events.Event{{Kind: events.Shutdown}}})
	if w.App.Fabric().Index().Alive().Has(host) {
		t.Fatal("the slot lives on after a shutdown")
	}
	eventually(t, "the slot is given back", func() bool { return w.App.Fabric().Index().Alive().Has(host) })
	w.App.Fabric().Feed().Deliver(events.Batch{Replica: "systems-0", Epoch: epoch + 1, Seq: 1, Events: []events.Event{
		{Kind: events.Registered, Hashes: []uint64{7}, Root: true, Tokens: make([]uint32, 16), BlockSize: 16}}})
	if got := w.App.Fabric().Index().Host(host); got.Blocks != 1 || got.Stale {
		t.Errorf("after the restart the index says %+v", got)
	}
}

// A replica keeps its slot, its connections and its ledger over a reload that does not concern it.
//
//nolint:lll // raw text that cannot be broken
func TestAReloadMovesOnlyWhatChanged(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	before := w.Replica("debug-0")
	yaml := strings.NewReplacer("%s", "http://127.0.0.1:9").Replace(`
specialists:
  - {name: debug, tokenizer: builtin, adapters: [{name: gdb-v2}], scheduler: {max_running: 3}, replicas: [{url: "` + w.Engines["debug-0"].URL + `", blocks: 512, forward_priority: true}, {url: "%s", blocks: 512}]}
  - {name: fresh, replicas: [{url: "http://127.0.0.1:10", blocks: 8}]}
`)
	cfg, err := config.Parse("new.yaml", []byte(yaml), config.Options{Presets: plugins.Presets()})
	if err != nil {
		t.Fatal(err)
	}
	gone := w.Replica("systems-0").Host
	if err := w.App.Apply(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	after := w.Replica("debug-0")
	if after.Gate != before.Gate || after.Client != before.Client || after.Host != before.Host {
		t.Error("debug-0 was replaced though nothing essential changed")
	}
	if moved := w.Replica("debug-1"); moved.Host == before.Host || moved.Client == after.Client {
		t.Error("debug-1 has another URL and is still the old one")
	}
	if w.App.Fabric().Index().Alive().Has(gone) || w.Replicas()["systems-0"] != nil {
		t.Error("systems-0 lives on")
	}
	if resp, answer := w.Post("/v1/chat/completions", systems); resp.StatusCode != 404 {
		t.Errorf("the removed specialist: status %d: %s", resp.StatusCode, answer)
	}
	if resp, answer := w.Post("/v1/chat/completions", hello); resp.StatusCode != 200 {
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
		w.Get(w.Admin+"/admin/state", &state)
		return state.Specialists[1].Total == 512
	})
	if resp, answer := w.Post("/v1/chat/completions", systems); resp.StatusCode != 200 {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
	w.poolsStay(t)
}

// poolsStay asks both specialists and reloads, once as it is and once with another size for debug-0: the Gates that
// stay have their size, and another size is another Gate.
func (w *world) poolsStay(t *testing.T) {
	t.Helper()
	told := strings.Replace(smallWorld, `- {url: "%s", blocks: 512}`, `- {url: "%s"}`, 1)
	urls := []any{w.Engines["debug-0"].URL, w.Engines["debug-1"].URL, w.Engines["systems-0"].URL}
	before := w.Replicas()
	holds := func(when string, want map[string]int) {
		for name, total := range want {
			if got := w.Replica(name).Gate.Stats().Total; got != total {
				t.Errorf("%s: %s has a pool of %d blocks, want %d", when, name, got, total)
			}
			if old := before[name].Gate.Stats().Total; old != 512 {
				t.Errorf("%s: the Gate that %s began with has %d blocks", when, name, old)
			}
		}
	}
	all := map[string]int{"debug-0": 512, "debug-1": 512, "systems-0": 512}
	holds("at first", all)
	for _, body := range []string{hello, systems, streamed(hello), streamed(systems)} {
		w.Post("/v1/chat/completions", body)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
	holds("after requests", all)
	w.reload(told, urls...)
	holds("after a reload", all)
	w.reload(strings.Replace(told, "blocks: 512", "blocks: 256", 1), urls...)
	all["debug-0"] = 256
	holds("after a reload with another size", all)
	for name, same := range map[string]bool{"debug-0": false, "debug-1": true, "systems-0": true} {
		if got := w.Replica(name).Gate == before[name].Gate; got != same {
			t.Errorf("%s has the Gate that it began with: %v", name, got)
		}
	}
}

func TestAFileThatCannotServeIsRefusedBeforeAnythingMoves(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "octet.yaml")
	good := "specialists: [{name: a, replicas: [{url: \"http://127.0.0.1:1\", blocks: 9}]}]\n"
	if err := os.WriteFile(path, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := app.Source{Path: path, Sets: []string{"fleet.probe_interval=1h"}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(t.Context(), cfg, app.Options{Log: apptest.Log(t), Source: app.Source{Path: path}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	generation := a.Server().Runtime().Generation
	for _, bad := range []string{good + "profiles: {mine: {score: [{least-load: 1}], pick: nobody}}\n", good + good,
		"specialists: []\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := a.Reload(t.Context()); err == nil {
			t.Errorf("taken over: %s", bad)
		}
	}
	if now := a.Server().Runtime().Generation; now != generation {
		t.Errorf("generation went from %d to %d", generation, now)
	}
}
