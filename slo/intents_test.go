package slo

import (
	"fmt"
	"testing"
	"time"
)

// MEGA-76: each declared intent has its own tail, which is absent with too few samples and gone with the window.
func TestEveryIntentHasItsOwnTail(t *testing.T) {
	c := newClock()
	b := board(c)
	for i := range 100 {
		b.ObserveIntent(c.now(), "codegen", time.Duration(i+1)*time.Millisecond)
	}
	for range 19 {
		b.ObserveIntent(c.now(), "review", time.Second)
	}
	r := b.Report()
	codegen, review := r.Intents["codegen"], r.Intents["review"]
	if codegen.P99 == nil || *codegen.P99 < 97 || *codegen.P99 > 101 || codegen.Samples != 100 {
		t.Errorf("codegen: %+v", codegen)
	}
	if review.P99 != nil || review.Samples != 19 {
		t.Errorf("19 samples have a tail: %+v", review)
	}
	if r.TTFT.Samples != 0 {
		t.Error("an intent counts twice for its specialist")
	}
	c.advance(6 * time.Minute)
	if got := b.Report().Intents["codegen"]; got.Samples != 0 || got.P99 != nil {
		t.Errorf("after the window: %+v", got)
	}
}

func TestIntentsAreBounded(t *testing.T) {
	c := newClock()
	b := board(c)
	for i := range 10 * maxIntents {
		b.ObserveIntent(c.now(), fmt.Sprint(i), time.Millisecond)
	}
	if n := len(b.Report().Intents); n != maxIntents {
		t.Errorf("%d windows", n)
	}
}
