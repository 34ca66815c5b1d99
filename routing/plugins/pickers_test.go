package plugins_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"octet/routing"
	"octet/routing/index"
	"octet/routing/plugins"
)

// picker makes the plugin itself, to pick from scores of the test's choosing.
func (w *world) picker(name string, params map[string]any) *routing.Profile {
	return w.build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: name, Params: params}})
}

// ranks gives host i the i-th score, through a profile whose only scorer reads them from a table.
func ranks(t *testing.T, picker string, params map[string]any, scores []float64) (ranked []index.HostID) {
	t.Helper()
	w := newWorld(t, len(scores))
	reg := plugins.Registry(w.deps)
	reg["table"] = func(*routing.Params) routing.Plugin { return table(scores) }
	p, err := routing.Build(routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: picker, Params: params},
		Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "table"}, Weight: 1}}}, reg)
	if err != nil {
		t.Fatal(err)
	}
	return w.pick(p, routing.Facts{})
}

type table []float64

func (table) Name() string             { return "table" }
func (table) Reads() []routing.AnySlot { return nil }
func (s table) Score(_ routing.View, hosts []index.HostID, out []float64) {
	for i, h := range hosts {
		out[i] = s[h]
	}
}

// MOD3-11, MOD3-15, GAIE-29. EPP's case, with its scores over 100; equals, which it leaves open, come lowest host
// first.
//
//nolint:lll // raw text that cannot be broken
func TestMaxScoreRanksTheBest(t *testing.T) {
	for keep, want := range map[int][]index.HostID{1: {2}, 2: {2, 1}, 4: {2, 1, 0}} {
		if got := ranks(t, "max-score-picker", map[string]any{"keep": keep}, []float64{0.20, 0.25, 0.30}); !slices.Equal(got, want) {
			t.Errorf("keep %d: %v, want %v", keep, got, want)
		}
	}
	if got := ranks(t, "max-score", nil, []float64{0.5, 1, 0.5, 1, 1, 0.5}); !slices.Equal(got, []index.HostID{1, 3, 4, 0, 2, 5}) {
		t.Errorf("equals: %v", got)
	}
}

func TestMaxScoreRanksAsASortWould(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 8))
	for range 120 {
		n, keep := 2+draw.IntN(100), 1+draw.IntN(110)
		scores := make([]float64, n)
		want := make([]index.HostID, n)
		for h := range scores {
			scores[h] = float64(draw.IntN(12)) / 12 // many equals
			want[h] = index.HostID(h)
		}
		slices.SortStableFunc(want, func(a, b index.HostID) int { return cmp.Compare(scores[b], scores[a]) })
		if got := ranks(t, "max-score", map[string]any{"keep": keep}, scores); !slices.Equal(got, want[:min(keep, n)]) {
			t.Fatalf("%v, keep %d: got %v, want %v", scores, keep, got, want)
		}
	}
}

// MOD3-12, DYN-12
func TestRoundRobinPickerCycles(t *testing.T) {
	w := newWorld(t, 3)
	p := w.picker("round-robin", nil)
	for i := range index.HostID(7) {
		if got := w.pick(p, routing.Facts{}); got[0] != i%3 || got[1] != (i+1)%3 || got[2] != (i+2)%3 {
			t.Errorf("turn %d: %v", i, got)
		}
	}
}

func TestRoundRobinStaysFairWhileReplicasComeAndGo(t *testing.T) {
	w := newWorld(t, 4)
	p := w.build(routing.ProfileSpec{Name: "p", Filter: []routing.PluginSpec{{Name: "health"}},
		Pick: routing.PluginSpec{Name: "round-robin"}})
	var got []index.HostID
	for i := range 12 {
		w.replica(2).SetDraining(i >= 3 && i < 8)
		got = append(got, w.pick(p, routing.Facts{})[0])
	}
	if want := []index.HostID{0, 1, 2, 3, 0, 1, 3, 0, 1, 2, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRoundRobinIsExactUnderConcurrentRequests(t *testing.T) {
	w := newWorld(t, 5)
	p := w.picker("round-robin", nil)
	var counts [5]int
	var mu sync.Mutex
	var running sync.WaitGroup
	for range 10 {
		running.Go(func() {
			for range 100 {
				c := routing.Acquire(routing.Facts{})
				c.Candidates(index.HostSet(0, 1, 2, 3, 4))
				d, err := p.Select(context.Background(), c)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				counts[d.Ranked[0].Host]++
				mu.Unlock()
				c.Release()
			}
		})
	}
	running.Wait()
	if counts != [5]int{200, 200, 200, 200, 200} {
		t.Errorf("%v", counts)
	}
}

// GAIE-30, DYN-11
//
//nolint:lll // raw text that cannot be broken
func TestRandomIsEvenAndRepeatable(t *testing.T) {
	w := newWorld(t, 4)
	w.deps.Seed = 42
	var sequences [2]string
	for i := range sequences {
		p := w.picker("random", nil)
		var first, last [4]int
		for range 4000 {
			got := w.pick(p, routing.Facts{})
			first[got[0]]++
			last[got[3]]++
			sequences[i] += fmt.Sprint(got[0])
		}
		for h := range 4 {
			if first[h] < 900 || first[h] > 1100 || last[h] < 900 || last[h] > 1100 {
				t.Errorf("of 4000, replica %d came first %d times and last %d times", h, first[h], last[h])
			}
		}
	}
	if sequences[0] != sequences[1] {
		t.Error("one seed, two sequences")
	}
	if a, b := w.pick(w.picker("random-picker", map[string]any{"seed": 1, "keep": 2}), routing.Facts{}), 2; len(a) != b {
		t.Errorf("kept %d of 4", len(a))
	}
}

// A dry request is told what the next real one gets, and changes nothing.
func TestDryRequestsLeaveRotationAndChanceAlone(t *testing.T) {
	for _, picker := range []string{"round-robin", "random", "max-score"} {
		w := newWorld(t, 6)
		spec := routing.ProfileSpec{Name: "p", Pick: routing.PluginSpec{Name: picker},
			Score: []routing.WeightedSpec{{PluginSpec: routing.PluginSpec{Name: "round-robin"}, Weight: 1}}}
		p, undisturbed := w.build(spec), w.build(spec)
		for range 20 {
			told := w.pick(p, routing.Facts{Dry: true})
			if again := w.pick(p, routing.Facts{Dry: true}); !slices.Equal(told, again) {
				t.Errorf("%s: told %v, then %v", picker, told, again)
			}
			got, want := w.pick(p, routing.Facts{}), w.pick(undisturbed, routing.Facts{})
			if !slices.Equal(told, got) || !slices.Equal(got, want) {
				t.Errorf("%s: told %v, got %v, want %v", picker, told, got, want)
			}
		}
	}
}
