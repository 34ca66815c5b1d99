package slo

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"
)

func knobs(t *testing.T, c *clock) *Knobs {
	t.Helper()
	k, err := NewKnobs(c.now, IntentKnobs("codegen", 0.3, 0.2)...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func value(t *testing.T, k *Knobs, name string) float64 {
	t.Helper()
	v, ok := k.Value(name)
	if !ok {
		t.Fatalf("no knob %s", name)
	}
	return v
}

// MEGA-65: visible with who, why and until when, and reversible without a deploy.
func TestAnOverrideHoldsUntilItsTimeAndIsVisible(t *testing.T) {
	c := newClock()
	k := knobs(t, c)
	if v := value(t, k, "divert_threshold.codegen"); v != 0.2 {
		t.Fatalf("default %v", v)
	}
	until := c.now().Add(time.Minute)
	if err := k.Set("divert_threshold.codegen", Override{Value: 0.6, By: "ann", Why: "spike",
		Until: until}); err != nil {
		t.Fatal(err)
	}
	list := k.List()
	if len(list) != 3 || list[0].Name != "divert_threshold.codegen" || list[1].Name != "priority_floor.codegen" ||
		list[2].Name != "shadow_threshold.codegen" {
		t.Fatalf("got %v", list)
	}
	if s := list[0]; s.Value != 0.6 || s.Default != 0.2 || s.Override.By != "ann" || s.Override.Why != "spike" ||
		s.Override.Since != c.now() || s.Override.Until != until {
		t.Errorf("got %+v", s)
	}
	c.advance(time.Minute - 1)
	if v := value(t, k, "divert_threshold.codegen"); v != 0.6 {
		t.Errorf("too early: %v", v)
	}
	c.advance(1)
	if v := value(t, k, "divert_threshold.codegen"); v != 0.2 {
		t.Errorf("too late: %v", v)
	}
	if s := k.List()[0]; s.Override != nil || s.Value != 0.2 {
		t.Errorf("still listed: %+v", s)
	}
}

func TestAnOverrideWithoutEndHoldsUntilItIsCleared(t *testing.T) {
	c := newClock()
	k := knobs(t, c)
	if err := k.Set("priority_floor.codegen", Override{Value: 5}); err != nil {
		t.Fatal(err)
	}
	c.advance(10_000 * time.Hour)
	if v := value(t, k, "priority_floor.codegen"); v != 5 {
		t.Errorf("got %v", v)
	}
	for range 2 {
		if err := k.Clear("priority_floor.codegen"); err != nil {
			t.Fatal(err)
		}
	}
	if v := value(t, k, "priority_floor.codegen"); v != -100 {
		t.Errorf("got %v", v)
	}
}

func TestAWrongOverrideChangesNothing(t *testing.T) {
	c := newClock()
	k := knobs(t, c)
	for _, w := range []struct {
		name string
		o    Override
		want error
	}{
		{"divert_threshold.debug", Override{Value: 0.5}, ErrUnknownKnob},
		{"divert_threshold.codegen", Override{Value: 1.01}, ErrOutOfRange},
		{"divert_threshold.codegen", Override{Value: -0.01}, ErrOutOfRange},
		{"divert_threshold.codegen", Override{Value: math.NaN()}, ErrOutOfRange},
		{"priority_floor.codegen", Override{Value: math.Inf(1)}, ErrOutOfRange},
		{"divert_threshold.codegen", Override{Value: 0.5, Until: c.now()}, ErrExpired},
	} {
		if err := k.Set(w.name, w.o); !errors.Is(err, w.want) {
			t.Errorf("%s %+v: %v", w.name, w.o, err)
		}
	}
	if err := k.Clear("nothing"); !errors.Is(err, ErrUnknownKnob) {
		t.Errorf("got %v", err)
	}
	if _, ok := k.Value("nothing"); ok {
		t.Error("an unknown knob has a value")
	}
	for _, s := range k.List() {
		if s.Override != nil || s.Value != s.Default {
			t.Errorf("changed: %+v", s)
		}
	}
}

func TestANewConfigKeepsTheOverridesThatItStillAllows(t *testing.T) {
	c := newClock()
	k := knobs(t, c)
	for name, v := range map[string]float64{"shadow_threshold.codegen": 0.9, "divert_threshold.codegen": 0.1} {
		if err := k.Set(name, Override{Value: v}); err != nil {
			t.Fatal(err)
		}
	}
	err := k.Define(Knob{Name: "shadow_threshold.codegen", Default: 0.5, Max: 1},
		Knob{Name: "divert_threshold.codegen", Default: 0.5, Min: 0.2, Max: 1})
	if err != nil {
		t.Fatal(err)
	}
	if v := value(t, k, "shadow_threshold.codegen"); v != 0.9 {
		t.Errorf("lost: %v", v)
	}
	if v := value(t, k, "divert_threshold.codegen"); v != 0.5 {
		t.Errorf("out of the new range, and still in force: %v", v)
	}
	if _, ok := k.Value("priority_floor.codegen"); ok {
		t.Error("a knob that the config dropped is still there")
	}
	for _, bad := range [][]Knob{{{Name: "a", Max: 1}, {Name: "a", Max: 1}}, {{Max: 1}},
		{{Name: "a", Default: 2, Max: 1}}, {{Name: "a", Default: math.NaN(), Max: 1}}} {
		if err := k.Define(bad...); !errors.Is(err, ErrKnob) {
			t.Errorf("%v: %v", bad, err)
		}
		if _, err := NewKnobs(nil, bad...); !errors.Is(err, ErrKnob) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if v := value(t, k, "shadow_threshold.codegen"); v != 0.9 {
		t.Errorf("a refused definition changed %v", v)
	}
}

func TestKnobsAreReadWhileTheyChange(t *testing.T) {
	k := knobs(t, newClock())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				if v, ok := k.Value("shadow_threshold.codegen"); !ok || v != 0.3 && v != 0.7 {
					t.Errorf("got %v %v", v, ok)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for range 500 {
			_ = k.Set("shadow_threshold.codegen", Override{Value: 0.7})
			_ = k.List()
			_ = k.Clear("shadow_threshold.codegen")
			_ = k.Define(IntentKnobs("codegen", 0.3, 0.2)...)
		}
	})
	wg.Wait()
}

func TestADialIsItsKnobsThroughEveryDefinition(t *testing.T) {
	k := knobs(t, newClock())
	dial, early := k.Dial("shadow_threshold.codegen"), k.Dial("shadow_threshold.later")
	reads := func(d *Dial, want float64, there bool) {
		t.Helper()
		if v, ok := d.Value(); v != want || ok != there {
			t.Errorf("got %v %v, want %v %v", v, ok, want, there)
		}
	}
	reads(dial, 0.3, true)
	reads(early, 0, false)
	reads(nil, 0, false)
	if err := k.Set("shadow_threshold.later", Override{Value: 0.5}); !errors.Is(err, ErrUnknownKnob) {
		t.Errorf("a knob that is not defined can be set: %v", err)
	}
	if err := k.Define(IntentKnobs("later", 0.4, 0.2)...); err != nil {
		t.Fatal(err)
	}
	reads(dial, 0, false)
	reads(early, 0.4, true)
	if len(k.List()) != 3 {
		t.Errorf("listed: %+v", k.List())
	}
	k.Adjust("shadow_threshold.later", Override{Value: 0.6})
	reads(early, 0.6, true)
	if v, overridden, _ := early.Own(); v != 0.4 || overridden {
		t.Errorf("its own: %v %v", v, overridden)
	}
	if err := k.Define(IntentKnobs("codegen", 0.7, 0.2)...); err != nil {
		t.Fatal(err)
	}
	reads(dial, 0.7, true)
	reads(early, 0, false)
	if dial != k.Dial("shadow_threshold.codegen") {
		t.Error("one knob, two dials")
	}
}
