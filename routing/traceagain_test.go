package routing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
)

// Facts that are handed over into memory that has been used, and told late, say what Selections says at once.
func TestWhatIsHandedOverSaysTheSame(t *testing.T) {
	p := traced(t)
	var used []routing.Account
	for i, n := range []int{5, 2, 3, 0, 5, 1, 4, 5} {
		c := routing.Acquire(routing.Facts{})
		c.Candidates(hosts(n))
		if timed := i%2 == 0; timed {
			c.EnableTrace(ticking())
		} else {
			c.EnableTrace(nil)
		}
		_, _ = routing.Single(p).Plan(t.Context(), c)
		want := c.Selections()
		used = c.HandOver(used[:0])
		if again := c.HandOver(nil); len(again) != 1 || again[0].Trace() != nil {
			t.Errorf("what was handed over is told again: %+v", again)
		}
		c.Release()
		scribble(t, p)
		if len(used) != 1 {
			t.Fatalf("%d accounts", len(used))
		}
		got := []routing.LegSelection{{Leg: used[0].Leg, Skipped: used[0].Skipped, Trace: used[0].Trace()}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %d candidates (-at once +late):\n%s", n, diff)
		}
		if used[0].Candidates().Count() != n {
			t.Errorf("%v, want %d candidates", used[0].Candidates(), n)
		}
		if i%2 == 1 && len(used[0].Trace().Stages) != 0 {
			t.Error("times were told that nobody took")
		}
	}
}

// scribble uses pooled Contexts for other selections.
func scribble(t *testing.T, p *routing.Profile) {
	t.Helper()
	for n := range 4 {
		c := routing.Acquire(routing.Facts{})
		c.Candidates(hosts(5 - n))
		c.EnableTrace(ticking())
		_, _ = routing.Single(p).Plan(t.Context(), c)
		c.Release()
	}
}

func TestNothingIsHandedOverOfWhatWasNotTraced(t *testing.T) {
	c := request(t, 3)
	if _, err := routing.Single(traced(t)).Plan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if all := c.HandOver(nil); len(all) != 1 || all[0].Trace() != nil || !all[0].Candidates().Empty() {
		t.Errorf("%+v", all)
	}
}
