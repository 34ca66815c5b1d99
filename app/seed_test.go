package app_test

import (
	"path/filepath"
	"testing"

	"octet/kvpool"
)

func seedOf(w *world) uint64 { return w.App.Hasher().Seed() }

// B6: with a seed that is public, prompts can be chosen by the hashes of their blocks.
func TestAHashSeedThatIsNotSetIsDrawnAtTheStart(t *testing.T) {
	a, b := newWorld(t, smallWorld, smallEngines()), newWorld(t, smallWorld, smallEngines())
	if seedOf(a) == 0 || seedOf(a) == seedOf(b) {
		t.Errorf("seeds %d and %d", seedOf(a), seedOf(b))
	}
	var public kvpool.Hasher
	if a.App.Hasher().Root("debug", "", "") == public.Root("debug", "", "") {
		t.Error("prompts are hashed by the public seed")
	}
	if set := newWorld(t, smallWorld, smallEngines(), "hash_seed=7"); seedOf(set) != 7 {
		t.Errorf("seed %d", seedOf(set))
	}
}

func TestASeedThatWasDrawnOutlivesARestart(t *testing.T) {
	file := "events.snapshot.file=" + filepath.Join(t.TempDir(), "index")
	first := newWorld(t, smallWorld, smallEngines(), file)
	seed := seedOf(first)
	if err := first.App.Fabric().SaveFile(first.App.Config().Events.Snapshot.File); err != nil {
		t.Fatal(err)
	}
	if again := newWorld(t, smallWorld, smallEngines(), file); seedOf(again) != seed {
		t.Errorf("%d after %d", seedOf(again), seed)
	}
	if other := newWorld(t, smallWorld, smallEngines(), file, "hash_seed=7"); seedOf(other) != 7 {
		t.Errorf("%d where 7 is set", seedOf(other))
	}
}
