package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// MEGA-36: each specialist has its own pool: one that is filled over and over evicts what it held itself, and nothing
// of another's, neither at the engines nor in what the Gates believe of them.
func TestAFullPoolEvictsNothingOfAnother(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	prompt := func(model, about string, words int) {
		resp, answer := w.Post("/v1/completions", fmt.Sprintf(`{"model":%q,"max_tokens":2,"prompt":%q}`, model,
			about+strings.Repeat(" word", words)))
		if resp.StatusCode != 200 {
			t.Fatalf("%d %s", resp.StatusCode, answer)
		}
	}
	for name := range w.Engines { // an engine's first batch says that its cache is empty: the Gate forgets what it has
		host := w.Replica(name).Host
		eventually(t, name+" is heard", func() bool { return w.App.Fabric().Index().Host(host).LastSeq > 0 })
	}
	prompt("debug", "kept", 600)
	held := func() (atEngines, inModels int) {
		eventually(t, "nothing runs", w.Quiet) // what an answer leaves is counted once its place is given back
		for _, name := range []string{"debug-0", "debug-1"} {
			atEngines += w.Engines[name].State().Cached
			inModels += w.gate(name).Stats().Cached
		}
		return atEngines, inModels
	}
	engines, models := held()
	for i := range 15 { // of some 38 blocks each, in a pool of 512
		prompt("systems", fmt.Sprint("other ", i), 600)
	}
	systems := w.Engines["systems-0"]
	if computed := systems.Stats().PromptTokens / 16; computed < 540 || systems.State().Cached > 512 {
		t.Errorf("%d blocks computed, %d held: nothing had to go", computed, systems.State().Cached)
	}
	if e, m := held(); e != engines || m != models || e < 30 || m < 30 {
		t.Errorf("debug's engines hold %d blocks, held %d; its Gates believe %d, believed %d", e, engines, m, models)
	}
}
