package adapters_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"octet/adapters"
	"octet/internal/race"
)

var errBroken = errors.New("broken")

// zipf draws from n adapters, the i-th in proportion to (i+1)^-s.
type zipf struct{ sums []float64 }

func newZipf(n int, s float64) zipf {
	sums, all := make([]float64, n), 0.0
	for i := range sums {
		all += math.Pow(float64(i+1), -s)
		sums[i] = all
	}
	for i := range sums {
		sums[i] /= all
	}
	return zipf{sums}
}

func (z zipf) draw(dice *rand.Rand) int {
	at, _ := slices.BinarySearch(z.sums, dice.Float64())
	return min(at, len(z.sums)-1)
}

// fixedOptimum is what the best fixed placement finds: all requests are known, the adapters that are asked for most
// stay in the slots but one, and every other request is a load into the last slot.
func fixedOptimum(asked []int, slots int) (found, loads int) {
	counts := map[int]int{}
	for _, a := range asked {
		counts[a]++
	}
	all := make([]int, 0, len(counts))
	for _, n := range counts {
		all = append(all, n)
	}
	slices.Sort(all)
	slices.Reverse(all)
	for i, n := range all {
		if i < slots-1 {
			found += n
		}
	}
	return found, len(asked) - found
}

// clairvoyant is what Belady's algorithm finds, which knows all requests to come: no way of placing does better.
func clairvoyant(asked []int, slots int) (found, loads int) {
	next, last := make([]int, len(asked)), map[int]int{}
	for i := len(asked) - 1; i >= 0; i-- {
		next[i] = len(asked)
		if at, again := last[asked[i]]; again {
			next[i] = at
		}
		last[asked[i]] = i
	}
	held := map[int]int{} // adapter → its next request
	for i, a := range asked {
		if _, here := held[a]; here {
			found++
		} else {
			loads++
			if len(held) == slots {
				farthest := -1
				for b, at := range held {
					if farthest < 0 || at > held[farthest] || at == held[farthest] && b < farthest {
						farthest = b
					}
				}
				delete(held, farthest)
			}
		}
		held[a] = next[i]
	}
	return found, loads
}

// traffic plays requests on a world: the adapters asked for, at a rate a second.
func (w *world) traffic(asked []int, rate float64, takes time.Duration) {
	at := time.Duration(0)
	for _, a := range asked {
		at += time.Duration(w.dice.ExpFloat64() / rate * float64(time.Second))
		name := fmt.Sprintf("a%03d", a)
		long := time.Duration(w.dice.ExpFloat64() * float64(takes))
		w.after(at, func() { w.ask(name, long) })
	}
	w.run(at + time.Minute)
}

func declare(n, replicas int) []adapters.Adapter {
	all := make([]adapters.Adapter, n)
	for i := range all {
		name := fmt.Sprintf("a%03d", i)
		all[i] = adapters.Adapter{Name: name, Path: "/" + name, Replicas: replicas}
	}
	return all
}

// Zipf over 200 adapters, 16 replicas with 8 slots: what is loaded when it is asked for, and how much is loaded,
// against the best fixed placement, which knows all requests beforehand, and against Belady's algorithm.
func TestPlacementIsNearTheOfflineOptimum(t *testing.T) {
	race.Skip(t)
	for _, s := range []float64{0.8, 1, 1.2} {
		for seed := range uint64(1) {
			t.Run(fmt.Sprintf("s=%g/seed=%d", s, seed), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, seed, 16, 8, adapters.Rules{Slots: 8})
				w.every = 500
				order := w.dice.Perm(200) // of popularity: it is not the order of declaration
				z := newZipf(200, s)
				asked := make([]int, 30000)
				for i := range asked {
					asked[i] = order[z.draw(w.dice)]
				}
				w.p.Configure(adapters.Rules{Slots: 8}, declare(200, 1), w.now)
				w.tick()
				w.traffic(asked, 10, 4*time.Second)
				found, loads := fixedOptimum(asked, 128)
				best, least := clairvoyant(asked, 128)
				t.Logf("found %.4f of the requests, %d loads; the fixed optimum %.4f, %d; Belady %.4f, %d; waited %v",
					float64(w.found)/float64(w.asked), w.loads, float64(found)/float64(w.asked), loads,
					float64(best)/float64(w.asked), least, w.waited/time.Duration(w.served))
				if w.refused > 0 {
					t.Errorf("%d of %d requests are refused", w.refused, w.asked)
				}
				if float64(w.found) < 0.97*float64(found) {
					t.Errorf("%d found, the fixed optimum %d", w.found, found)
				}
				if w.loads > 2*loads {
					t.Errorf("%d loads, the fixed optimum %d", w.loads, loads)
				}
			})
		}
	}
}
