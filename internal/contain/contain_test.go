package contain

import "testing"

func TestAPanicEndsWhatItStruckAndIsCounted(t *testing.T) {
	before, after := Count(Task), false
	func() {
		defer End(Task, func() { after = true })
		panic("oh")
	}()
	Do(Task, func() { panic("again") })
	Do(Task, func() {})
	if n := Count(Task) - before; n != 2 || !after {
		t.Errorf("%d counted, then %v", n, after)
	}
	for p := range Places {
		if p.String() == "" {
			t.Errorf("place %d has no name", p)
		}
	}
}
