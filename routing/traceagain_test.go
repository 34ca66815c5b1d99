package routing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"octet/routing"
)

// Traces that are written over others say what traces of their own say.
func TestTracesInUsedMemorySayTheSame(t *testing.T) {
	p := traced(t)
	var used []routing.LegSelection
	for i, n := range []int{5, 2, 3, 0, 5, 1, 4, 5} {
		c := request(t, n)
		if timed := i%2 == 0; timed {
			c.EnableTrace(ticking())
		} else {
			c.EnableTrace(nil)
		}
		_, _ = routing.Single(p).Plan(t.Context(), c)
		used = c.AppendSelections(used[:0])
		if diff := cmp.Diff(c.Selections(), used, cmpopts.IgnoreUnexported(routing.LegSelection{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("of %d candidates (-own +used):\n%s", n, diff)
		}
		if i%2 == 1 && len(used[0].Trace.Stages) != 0 {
			t.Error("times were told that nobody took")
		}
	}
}
