package routing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/routing"
)

// Facts that are told late, from bytes behind others, say what Selections says at once.
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
		want := c.Selections()
		if c.Accounts() != 1 {
			t.Fatalf("%d accounts", c.Accounts())
		}
		a := routing.Account{Facts: []byte("others")}
		c.Account(0, &a)
		if a.Candidates.Count() != n {
			t.Errorf("%v, want %d candidates", a.Candidates, n)
		}
		c.Release()
		scribble(t, p)
		got := []routing.LegSelection{{Leg: a.Leg, Skipped: a.Skipped,
			Trace: a.Profile.Retell(a.Facts[len("others"):])}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("of %d candidates (-at once +late):\n%s", n, diff)
		}
		if i%2 == 1 && len(got[0].Trace.Stages) != 0 {
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
	a := routing.Account{Profile: traced(t)}
	if c.Account(0, &a); c.Accounts() != 1 || a.Profile != nil || a.Candidates != nil || len(a.Facts) != 0 {
		t.Errorf("%+v", a)
	}
}
