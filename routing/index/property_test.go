package index_test

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"octet/routing/index"
	"octet/routing/index/indextest"
)

func shrinking(t *rapid.T) dice {
	return func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "roll") }
}

func indexEqualsModel(build indextest.Make) func(t *rapid.T) {
	return func(t *rapid.T) {
		r := newRig(t, shrinking(t), build)
		for range r.roll(40) {
			r.step()
			r.compare()
		}
	}
}

// MOD2-06, MOD2-07, MOD2-10, MOD2-14, MOD2-15, MOD2-16, MOD2-38, MOD2-44, MOD2-51
func TestIndexEqualsModelUnderDisorder(t *testing.T) {
	eachKind(t, func(t *testing.T, build indextest.Make) { rapid.Check(t, indexEqualsModel(build)) })
}

func FuzzIndexEqualsModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(indexEqualsModel(kinds[0].build))) }

func FuzzReferenceEqualsModel(f *testing.F) { f.Fuzz(rapid.MakeFuzz(indexEqualsModel(kinds[1].build))) }

// Rapid prefers small numbers and so visits holes rarely; even dice make up for it.
// MOD2-06, MOD2-07, MOD2-38
func TestIndexEqualsModelOverLongHistories(t *testing.T) {
	eachKind(t, func(t *testing.T, build indextest.Make) {
		for seed := range 200 {
			rng := rand.New(rand.NewPCG(uint64(seed), 0))
			r := newRig(t, rng.IntN, build)
			for range 20 {
				r.step()
				r.step()
				r.step()
				r.compare()
			}
		}
	})
}

// MOD2-17
func TestReplayOfAnyPartLeavesTheSameState(t *testing.T) {
	eachKind(t, func(t *testing.T, build indextest.Make) {
		for seed := range 200 {
			replayAnyPart(t, newRig(t, rand.New(rand.NewPCG(uint64(seed), 1)).IntN, build))
		}
	})
}

func replayAnyPart(t *testing.T, r *rig) {
	for range r.roll(60) {
		r.deliver(r.batch(r.host()))
	}
	digest, stats := r.x.Digest(), r.x.Stats()
	var hosts [modelHosts]index.HostState
	for h := range hosts {
		hosts[h] = r.x.Host(index.HostID(h))
	}
	from := r.roll(len(r.past) + 1)
	to := from + r.roll(len(r.past)-from+1)
	for _, b := range r.past[from:to] {
		if out := r.x.Apply(b); out != index.Duplicate && out != index.OldEpoch && out != index.Dead {
			t.Fatalf("%+v again: %s", b, out)
		}
	}
	if r.x.Digest() != digest || r.x.Stats() != stats {
		t.Fatalf("replay of %d to %d changed %+v to %+v", from, to, stats, r.x.Stats())
	}
	for h := range hosts {
		if got := r.x.Host(index.HostID(h)); got != hosts[h] {
			t.Fatalf("replay changed host %d from %+v to %+v", h, hosts[h], got)
		}
	}
	r.compare()
}
