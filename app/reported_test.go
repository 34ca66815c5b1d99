package app_test

import (
	"slices"
	"testing"
)

// GAIE-05: what an engine reports of itself is what plugins see of its replica: how many requests it runs, which
// adapters they use, and how full its pool is.
func TestWhatAnEngineReportsIsKnownOfItsReplica(t *testing.T) {
	w := newWorld(t, smallWorld, slowEngines(), "fleet.scrape_interval=100ms")
	replica := w.Replica("debug-0").Fleet
	if spec := replica.Spec(); spec.Name != "debug-0" || spec.URL != w.Engines["debug-0"].URL {
		t.Errorf("%+v", spec)
	}
	eventually(t, "an idle engine says so", func() bool {
		said := replica.Reported()
		return said.HasAdapters && said.HasLoad && said.Running == 0 && len(said.RunningAdapters) == 0
	})
	leave := stranger(t, w, "debug-0", "gdb-v2")
	eventually(t, "the adapter and the load are seen", func() bool {
		said, load := replica.Reported(), replica.Load()
		return slices.Contains(said.RunningAdapters, "gdb-v2") && said.Runs("gdb-v2") && said.Running == 1 &&
			load.Running == 1 && load.KVUsage > 0
	})
	leave()
	eventually(t, "ledgers at their baseline", w.Quiet)
}
