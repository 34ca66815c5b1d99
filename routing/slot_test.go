package routing_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"octet/routing"
)

// MOD3-27
func TestASlotHoldsWhatWasPutForThisRequestOnly(t *testing.T) {
	c := routing.Acquire(routing.Facts{})
	if total.Has(c.View()) || total.Get(c.View()) != 0 {
		t.Error("an unwritten slot reads as written")
	}
	total.Put(c, 7)
	total.Put(c, 8)
	if !total.Has(c.View()) || total.Get(c.View()) != 8 || label.Has(c.View()) {
		t.Errorf("total = %d, label written: %t", total.Get(c.View()), label.Has(c.View()))
	}
	c.Release()
	for range 100 { // some of these are the same pooled Context again
		c := routing.Acquire(routing.Facts{})
		if total.Has(c.View()) || total.Get(c.View()) != 0 {
			t.Fatal("a value survived into the next request")
		}
		total.Put(c, 1)
		c.Release()
	}
}

func TestAZeroValueThatWasPutIsThere(t *testing.T) {
	c := routing.Acquire(routing.Facts{})
	defer c.Release()
	numbers.Put(c, nil)
	if !numbers.Has(c.View()) {
		t.Error("nil was put, but Has is false")
	}
}

func TestASpareIsABufferOfAnEarlierRequest(t *testing.T) {
	for range 1000 { // until the pool hands a Context out again
		c := routing.Acquire(routing.Facts{})
		spare := numbers.Spare(c)
		numbers.Put(c, append(spare[:0], 1, 2, 3))
		if numbers.Spare(c) != nil {
			t.Fatal("what this request wrote is offered as a spare")
		}
		c.Release()
		if cap(spare) >= 3 {
			return
		}
	}
	t.Error("no spare in 1000 requests")
}

func TestNameAndTypeAreASlotsIdentity(t *testing.T) {
	again := routing.NewSlot[int]("total")
	c := routing.Acquire(routing.Facts{})
	defer c.Release()
	total.Put(c, 3)
	totalStr.Put(c, "three")
	if again.Get(c.View()) != 3 || totalStr.Get(c.View()) != "three" || total.Name() != "total" {
		t.Error("slots of one name and two types share a place, or two of one type do not")
	}
}

func TestSlotsCostNoAllocation(t *testing.T) {
	c := routing.Acquire(routing.Facts{})
	defer c.Release()
	value := []int{1}
	allocs := testing.AllocsPerRun(100, func() {
		numbers.Put(c, value)
		total.Put(c, total.Get(c.View())+len(numbers.Get(c.View())))
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func TestASlotThatNewSlotDidNotMakePanics(t *testing.T) {
	c := routing.Acquire(routing.Facts{})
	defer c.Release()
	var zero routing.Slot[int]
	if zero.Has(c.View()) {
		t.Error("the zero slot is written")
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	zero.Put(c, 1)
}

func TestReleasingTwicePanics(t *testing.T) {
	c := routing.Acquire(routing.Facts{})
	c.Release()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	c.Release()
}

func TestAPluginTouchesOnlySlotsThatItDeclares(t *testing.T) {
	for name, do := range map[string]func(c *routing.Context){
		"undeclared write": func(c *routing.Context) { label.Put(c, "x") },
		"undeclared read":  func(c *routing.Context) { label.Get(c.View()) },
		"undeclared look":  func(c *routing.Context) { label.Has(c.View()) },
	} {
		t.Run(name, func(t *testing.T) {
			p := build(t, routing.ProfileSpec{
				Name: "p", Prepare: named("nosy"), Pick: routing.PluginSpec{Name: "best"},
				Wanted: []routing.AnySlot{total},
			}, routing.Registry{"best": as(best("best")), "nosy": as(fakePreparer{
				fake{name: "nosy", writes: []routing.AnySlot{total}},
				func(_ context.Context, c *routing.Context) error { do(c); return nil },
			})})
			_, err := p.Select(t.Context(), request(t, 2))
			var panicked *routing.PluginPanicError
			if !errors.As(err, &panicked) || panicked.Plugin != "nosy" || !strings.Contains(err.Error(), `"label"`) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// MOD3-29: a Scorer that writes and a read into the wrong type do not compile; the same code without the fault does.
func TestWrongSlotAccessDoesNotCompile(t *testing.T) {
	out, err := exec.Command("go", "vet",
		"./testdata/compile/correct", "./testdata/compile/scorerwrites",
		"./testdata/compile/wrongtype").CombinedOutput()
	text := string(out)
	if err == nil {
		t.Fatal("everything compiles")
	}
	for _, want := range []string{
		"scorerwrites.go:16:12: cannot use v (variable of struct type routing.View) as *routing.Context value in " +
			"argument to words.Put",
		"wrongtype.go:10:10: cannot use words.Get(v) (value of type []string) as string value",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not among the errors: %s", want)
		}
	}
	if strings.Contains(text, "compile/correct") {
		t.Error("the correct package does not compile")
	}
	if t.Failed() {
		t.Log(text)
	}
}
