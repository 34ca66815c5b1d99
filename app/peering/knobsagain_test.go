package peering

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/peers"
	"octet/slo"
)

// A knob that is set or cleared while the store is away for less than a lease holds at all within a third of a lease of
// its return, be it changed at the gateway that was cut off or at another.
func TestAKnobThatIsChangedDuringACutHoldsAtAll(t *testing.T) {
	for where, other := range map[string]string{"a": "b", "b": "a"} {
		t.Run("set at "+where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, end := context.WithCancel(t.Context())
				var running sync.WaitGroup
				h := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}
				all := map[string]*joiner{}
				for _, name := range []string{"a", "b"} {
					all[name] = h.join(ctx, t, name, &running)
				}
				knobs := slo.SpecialistKnobs("debug")
				cleared, set := knobs[0].Name, knobs[1].Name
				time.Sleep(time.Second) // in a bubble
				all[where].set(t, cleared, 1)
				time.Sleep(time.Second) // in a bubble
				all["b"].link.cut()
				all[where].set(t, set, 7)
				if err := all[where].knobs.Clear(cleared); err != nil {
					t.Fatal(err)
				}
				time.Sleep(500 * time.Millisecond) // in a bubble
				all["b"].link.mend()
				time.Sleep(time.Second + Every) // in a bubble
				for knob, want := range map[string]float64{cleared: 0, set: 7} {
					if v, _ := all[other].knobs.Value(knob); v != want {
						t.Errorf("%s is %v at %s, not %v", knob, v, other, want)
					}
				}
				end()
				running.Wait()
			})
		})
	}
}

// All knobs are told again in turn, so many at a time, and fewer where much is said of them.
func TestKnobsAreToldAgainInTurn(t *testing.T) {
	for why, times := range map[string]int{"": 3, strings.Repeat("w", wordsAgain/2): 75} {
		k, told := newKnobs("a"), map[string]bool{}
		for i := range 2*knobsAgain + 22 {
			k.change(fmt.Sprint(i), &slo.Override{Why: why})
		}
		messages := 0
		for ; len(told) < len(k.latest) && messages <= times; messages++ {
			for _, knob := range k.again(time.Now()).GetKnobs() {
				told[knob.GetName()] = true
			}
		}
		if messages != times {
			t.Errorf("%d of %d are told in %d messages, not %d", len(told), len(k.latest), messages, times)
		}
	}
	if m := newKnobs("a").again(time.Now()); m != nil {
		t.Errorf("%v is told of no knob", m)
	}
}

// A change that comes before its knob is known here holds once it is, and again where the knob goes and comes back; one
// that was taken back meanwhile does not, nor one that has ended.
func TestAKnobThatIsDefinedLaterIsAsItWasSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		h := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}
		a, b := h.join(ctx, t, "a", &running), h.join(ctx, t, "b", &running)
		both := append(slo.SpecialistKnobs("debug"), slo.SpecialistKnobs("later")...)
		step, floor := both[2].Name, both[3].Name
		define := func(j *joiner, knobs []slo.Knob) {
			if err := j.knobs.Define(knobs...); err != nil {
				t.Fatal(err)
			}
			j.KnobsDefined()
		}
		check := func(when string, steps, floors float64) {
			t.Helper()
			if v, _ := b.knobs.Value(step); v != steps {
				t.Errorf("%s: the step is %v, not %v", when, v, steps)
			}
			if v, _ := b.knobs.Value(floor); v != floors {
				t.Errorf("%s: the floor is %v, not %v", when, v, floors)
			}
		}
		time.Sleep(time.Second) // in a bubble
		define(a, both)
		a.set(t, floor, 7)
		if err := a.knobs.Set(step, slo.Override{Value: 1, Until: time.Now().Add(time.Minute)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // in a bubble
		define(b, both)
		check("it came before", 1, 7)
		define(b, both[:2])
		define(b, both)
		check("it is back", 1, 7)
		since := b.knobs.List()[3].Override.Since
		time.Sleep(time.Second) // in a bubble
		define(b, both)
		if now := b.knobs.List()[3].Override.Since; !now.Equal(since) {
			t.Errorf("what holds is set anew: %v, not %v", now, since)
		}
		define(b, both[:2])
		if err := a.knobs.Clear(floor); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute) // in a bubble
		define(b, both)
		check("it is taken back, and has ended", slo.Normal, slo.LeastPriority)
		end()
		running.Wait()
	})
}
