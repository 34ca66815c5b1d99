package pairs

import (
	"flag"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

var stop = flag.Bool("stop", false, "run no further cell once one has failed")

// table counts the cells of each feature, and those in which it was seen to be there.
type table struct {
	mu           sync.Mutex
	cells, shown map[string]int
	failed       atomic.Bool
}

func (n *table) note(c *cell) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range c.features {
		n.cells[f.name]++
		if c.shown[f.name] {
			n.shown[f.name]++
		}
	}
}

// few are the distances in the list of the pairs that a short run asks for: each feature has six cells or so.
var few = []int{0, 6, 18}

// TestPairs asks the world for every two features at a time. A feature that is hardly ever seen would prove nothing:
// each shows in a quarter of its cells at least.
func TestPairs(t *testing.T) {
	list, n := all(), &table{cells: map[string]int{}, shown: map[string]int{}}
	t.Run("cell", func(t *testing.T) {
		for i, one := range list {
			for j, other := range list[i+1:] {
				if testing.Short() && !slices.Contains(few, j) {
					continue
				}
				t.Run(one.name+"+"+other.name, func(t *testing.T) {
					t.Parallel()
					if *stop && n.failed.Load() {
						t.Skip("a cell has failed")
					}
					defer func() {
						if t.Failed() {
							n.failed.Store(true)
						}
					}()
					synctest.Test(t, func(t *testing.T) {
						c := open(t, one, other)
						c.run()
						c.audit()
						n.note(c)
					})
				})
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(n.cells)) {
		t.Logf("%-16s in %d cells, seen in %d", name, n.cells[name], n.shown[name])
		if n.shown[name]*4 < n.cells[name] && !testing.Short() {
			t.Errorf("%s is seen in %d of its %d cells", name, n.shown[name], n.cells[name])
		}
	}
}
