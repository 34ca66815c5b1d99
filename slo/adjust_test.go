package slo

import (
	"testing"
	"time"
)

// MEGA-65: what the gateway sets by itself shows, with why; an operator's value goes before it, for a time, and it is
// there again after.
func TestAnOperatorGoesBeforeTheGatewayForATime(t *testing.T) {
	c := newClock()
	k, err := NewKnobs(c.now, SpecialistKnobs("debug")...)
	if err != nil {
		t.Fatal(err)
	}
	value := func(want float64, byOperator bool) {
		t.Helper()
		if v, overridden, ok := k.Lookup(LoadFloor + "debug"); v != want || overridden != byOperator || !ok {
			t.Errorf("%v, by an operator %v, want %v, %v", v, overridden, want, byOperator)
		}
	}
	value(LeastPriority, false)
	k.Adjust(LoadFloor+"debug", Override{Value: 7, By: "escalation", Why: "step 2"})
	value(7, false)
	if err := k.Set(LoadFloor+"debug", Override{Value: 0, By: "ann", Until: c.now().Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	value(0, true)
	s := k.List()[1]
	if s.Value != 0 || s.Override == nil || s.Override.By != "ann" || s.Set == nil || s.Set.Value != 7 ||
		s.Set.Why != "step 2" {
		t.Errorf("listed as %+v", s)
	}
	c.advance(time.Minute)
	value(7, false)
	if err := k.Define(SpecialistKnobs("debug")...); err != nil {
		t.Fatal(err)
	}
	value(7, false)
	k.Adjust(LoadFloor+"debug", Override{Value: 1000})
	value(100, false)
	k.Adjust(LoadFloor+"debug", Override{Value: LeastPriority})
	value(LeastPriority, false)
	if k.List()[1].Set != nil {
		t.Error("the default is listed as set")
	}
	k.Adjust("nobody's", Override{Value: 1}) // changes nothing
}
