package adapters_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"octet/adapters"
)

func TestResidencyRefusesWhatPassesItsBounds(t *testing.T) {
	r := adapters.NewResidency(adapters.Bounds{Adapters: 3, PerHost: 2})
	for _, err := range []error{r.MarkLoaded(0, "a"), r.MarkLoaded(0, "b"), r.MarkLoaded(0, "b"),
		r.MarkLoaded(1, "c")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := r.MarkLoaded(0, "c"); !errors.Is(err, adapters.ErrFull) {
		t.Errorf("a third on host 0: %v", err)
	}
	if err := r.MarkLoaded(2, "d"); !errors.Is(err, adapters.ErrFull) {
		t.Errorf("a fourth in all: %v", err)
	}
	if err := r.Replace(1, []string{"b", "d", "b"}); err != nil { // c goes, so d fits
		t.Errorf("a replacement within the bounds: %v", err)
	}
	if got := r.On(1); !slices.Equal(got, []string{"b", "d"}) {
		t.Errorf("host 1 has %q", got)
	}
	if got := r.LoadedOn("b"); !slices.Equal(got, []uint16{0, 1}) {
		t.Errorf("b is on %d", got)
	}
	if got := r.LoadedOn("c"); got != nil {
		t.Errorf("c is still on %d", got)
	}
}

func TestResidencyEqualsASetOfPairs(t *testing.T) {
	type pair struct {
		host uint16
		name string
	}
	rng := rand.New(rand.NewPCG(5, 6))
	r, oracle := adapters.NewResidency(adapters.Bounds{}), map[pair]bool{}
	for range 3000 {
		p := pair{uint16(rng.IntN(6)), fmt.Sprint("a", rng.IntN(5))}
		switch rng.IntN(8) {
		case 0:
			r.Forget(p.host)
			for i := range 5 {
				delete(oracle, pair{p.host, fmt.Sprint("a", i)})
			}
		case 1, 2, 3:
			r.MarkUnloaded(p.host, p.name)
			delete(oracle, p)
		default:
			if err := r.MarkLoaded(p.host, p.name); err != nil {
				t.Fatal(err)
			}
			oracle[p] = true
		}
		for h := range uint16(6) {
			for i := range 5 {
				q := pair{h, fmt.Sprint("a", i)}
				if r.Resident(h, q.name) != oracle[q] || slices.Contains(r.LoadedOn(q.name), h) != oracle[q] ||
					slices.Contains(r.On(h), q.name) != oracle[q] {
					t.Fatalf("%v: Resident %v, LoadedOn %v, On %v, want %v", q, r.Resident(h, q.name),
						r.LoadedOn(q.name), r.On(h), oracle[q])
				}
			}
		}
	}
}

// Readers under -race: each sees one moment, in which a and b are on host 7 together or not at all.
func TestAReaderSeesOneMoment(t *testing.T) {
	r := adapters.NewResidency(adapters.Bounds{})
	var writers sync.WaitGroup
	writers.Go(func() {
		for range 500 {
			if err := r.Replace(7, []string{"a", "b"}); err != nil {
				t.Error(err)
			}
			r.Forget(7)
		}
	})
	for range 2000 {
		if n := len(r.On(7)); n != 0 && n != 2 {
			t.Fatalf("%d adapters", n)
		}
	}
	writers.Wait()
}

func TestResidentDoesNotAllocate(t *testing.T) {
	r := adapters.NewResidency(adapters.Bounds{})
	if err := r.MarkLoaded(3, "gdb-v2"); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = r.Resident(3, "gdb-v2") && r.Resident(4, "gdb-v2") }); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func ExampleResidency() {
	r := adapters.NewResidency(adapters.Bounds{})
	_ = r.MarkLoaded(2, "gdb-v2")
	_ = r.MarkLoaded(0, "gdb-v2")
	fmt.Println(r.LoadedOn("gdb-v2"), r.Resident(1, "gdb-v2"))
	// Output: [0 2] false
}
