package matrix

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func every() map[Group]bool {
	return map[Group]bool{Base: true, Alone: true, Pairs: true, Unknown: true}
}

// Each two levels of any two factors are met in a cell, those cells aside in which a factor is alone. The same seed
// gives the same cells.
func TestADesignHasEachPairOfLevels(t *testing.T) {
	traces := []Trace{{Name: "a"}, {Name: "b", Brief: true}, {Name: "c"}, {Name: "d", Brief: true}}
	cells := Design(traces, every(), 1)
	if diff := cmp.Diff(cells, Design(traces, every(), 1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(cells, Design(traces, every(), 2)) {
		t.Error("another seed gives the same pairs")
	}
	missing, groups := allPairs(levels(len(traces))), map[Group]int{}
	for _, c := range cells {
		if c.Group != Alone {
			missing.remove(rowOf(t, c))
		}
		groups[c.Group]++
	}
	if len(missing.has) > 0 {
		t.Errorf("%d pairs are in no cell", len(missing.has))
	}
	want := map[Group]int{Base: 4, Alone: 2 * 11, Unknown: 2 * 3, Pairs: groups[Pairs]}
	if diff := cmp.Diff(want, groups); diff != "" || groups[Pairs] < 12 || groups[Pairs] > 24 {
		t.Errorf("%d cells of pairs\n%s", groups[Pairs], diff)
	}
	for g := Base; g <= Unknown; g++ {
		for _, c := range Design(traces, map[Group]bool{g: true}, 1) {
			if c.Group != g {
				t.Errorf("asked for %s, got %s", g, c.Group)
			}
		}
	}
}

// rowOf returns a cell's levels.
func rowOf(t *testing.T, c Cell) (r row) {
	t.Helper()
	for r[0] = c.Trace; r[1] < len(replicas); r[1]++ {
		for r[2] = range pools {
			for r[3] = range decodes {
				for r[4] = range loads {
					for r[5] = range lates {
						if other := r.cell(c.Group); c.Blind == Sees && other == c {
							return r
						}
					}
				}
			}
		}
	}
	if c.Blind == Sees {
		t.Fatalf("%+v has no levels", c)
	}
	return row{c.Trace}
}

// A cell says how it differs from the base cell.
func TestACellSaysHowItDiffers(t *testing.T) {
	all := map[string]int{}
	for _, c := range Design([]Trace{{}}, map[Group]bool{Base: true, Alone: true, Unknown: true}, 1) {
		all[c.String()]++
	}
	want := map[string]int{"base": 1, "4 replicas": 1, "32 replicas": 1, "64 replicas": 1, "pool ×0.25": 1,
		"pool ×4": 1, "decode 100µs": 1, "decode 10ms": 1, "load 0.7": 1, "load 1.3": 1, "events 1s late": 1,
		"events 5s late": 1, "no events": 1, "metrics 10 s late": 1, "a quarter lies": 1}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}
