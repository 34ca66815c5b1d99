package routing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
)

// A trace that is rendered when the Context is used for other requests says what it said at once.
func TestWhatIsToldLateSaysTheSame(t *testing.T) {
	p := traced(t)
	for i, n := range []int{5, 2, 3, 0, 5, 1, 4, 5} {
		c := routing.Acquire(routing.Facts{})
		c.Candidates(hosts(n))
		if timed := i%2 == 0; timed {
			c.EnableTrace(ticking())
		} else {
			c.EnableTrace(nil)
		}
		_, _ = routing.Single(p).Plan(t.Context(), c)
		want := c.Trace()
		told := c.AppendSelections(nil)
		if len(told) != 1 {
			t.Fatalf("%d legs", len(told))
		}
		c.Release()
		scribble(t, p)
		got := told[0].Trace()
		if diff := cmp.Diff(want, got); diff != "" || len(got.Candidates) != n {
			t.Errorf("of %d candidates (-at once +late):\n%s", n, diff)
		}
		if again := told[0].Trace(); !cmp.Equal(got, again) {
			t.Error("a second rendering differs")
		}
		if i%2 == 1 && len(got.Stages) != 0 {
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

func TestNothingIsToldOfWhatWasNotTraced(t *testing.T) {
	c := request(t, 3)
	if _, err := routing.Single(traced(t)).Plan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if told := c.AppendSelections(nil); len(told) != 1 || told[0].Selected != nil || told[0].Trace() != nil {
		t.Errorf("%+v", told)
	}
}
