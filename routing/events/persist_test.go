package events

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"octet/routing/index"
)

func TestAConsumerThatPanicsBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Meter
		calls, failed := 0, errors.New("configured wrongly")
		err := Persist(t.Context(), &m, func() error {
			if calls++; calls < 4 {
				panic("makeslice: len out of range")
			}
			return failed
		})
		if st := m.Stats(); !errors.Is(err, failed) || calls != 4 || st.Panics != 3 ||
			!strings.Contains(st.LastPanic, "makeslice") {
			t.Errorf("%v after %d calls, %+v", err, calls, st)
		}
		ctx, cancel := context.WithCancel(t.Context())
		err = Persist(ctx, &m, func() error {
			cancel()
			panic("at the end")
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// brittle panics once.
type brittle struct {
	Applier
	armed bool
}

func (b *brittle) Apply(batch index.Batch) index.Outcome {
	if b.armed {
		b.armed = false
		panic("brittle")
	}
	return b.Applier.Apply(batch)
}

func TestAPanicInABatchLeavesTheReplicaStaleAndNothingLocked(t *testing.T) {
	x := newIndex(t, 4)
	b := &brittle{Applier: x}
	f := NewFeed(b, hasher, only("debug-0", debug0))
	l := f.Open()
	send := func(seq uint64, e Event) error {
		return Guard(func() error {
			l.Deliver(Batch{Replica: "debug-0", Epoch: 1, Seq: seq, Events: []Event{e}})
			return nil
		})
	}
	if err := send(1, stored(true, 0, tokens(1, 4), 1)); err != nil {
		t.Fatal(err)
	}
	b.armed = true
	if err := send(2, stored(false, 1, tokens(5, 4), 2)); !errors.Is(err, ErrPanic) {
		t.Fatal(err)
	}
	if err := send(3, stored(false, 2, tokens(9, 4), 3)); err != nil || !x.Host(debug0.Host).Stale {
		t.Errorf("%v, %+v", err, x.Host(debug0.Host))
	}
	if err := f.Resync("debug-0", 1, 3, []Event{stored(true, 0, tokens(1, 12), 1, 2, 3)}); err != nil ||
		x.Host(debug0.Host).Stale || x.Host(debug0.Host).Blocks != 3 {
		t.Errorf("%v, %+v", err, x.Host(debug0.Host))
	}
	l.Close()
}
