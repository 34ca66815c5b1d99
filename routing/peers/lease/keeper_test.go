package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/peers"
)

// shelf is a store in memory that all links of a test share.
type shelf struct {
	mu    sync.Mutex
	held  Held
	n     uint64
	fails error
	swaps []time.Duration // when, since it was made
	made  time.Time
}

func newShelf() *shelf { return &shelf{made: time.Now()} }

func (s *shelf) Life() time.Duration { return 0 }

func (s *shelf) Look(context.Context) (Held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held, s.fails
}

func (s *shelf) Swap(_ context.Context, seen Held, value string) (Held, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.fails != nil:
		return Held{}, s.fails
	case s.held != seen:
		return Held{}, ErrOther
	}
	s.n++
	s.held = Held{Value: value, Revision: s.n}
	s.swaps = append(s.swaps, time.Since(s.made))
	return s.held, nil
}

func (s *shelf) Drop(ctx context.Context, seen Held) error {
	if _, err := s.Swap(ctx, seen, ""); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = Held{}
	return nil
}

func (s *shelf) fail(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = why
}

// listen is a connection that never ends by itself.
func (s *shelf) listen(ctx context.Context, up func(Store)) error {
	up(s)
	<-ctx.Done()
	return ctx.Err()
}

func keeper(t *testing.T, of time.Duration) *Keeper {
	t.Helper()
	k, err := NewKeeper(Config{Name: "a", Lease: of})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// start runs a keeper; what it tells is appended to told, by one goroutine that stop waits for.
func start(k *Keeper, listen Listen, told *[]error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		k.Run(ctx, listen, peers.Events{Message: func([]byte, time.Time) {},
			Away: func(why error) { *told = append(*told, why) }})
	}()
	return func() { cancel(); <-done }
}

func TestAClaimIsRenewedEachThirdOfALease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := newShelf(), keeper(t, 3*time.Second)
		if err := k.Claim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var told []error
		stop := start(k, s.listen, &told)
		time.Sleep(3500 * time.Millisecond)
		stop()
		// at the claim, at the connection, then three times, and when it is given back
		if got := fmt.Sprint(s.swaps); got != "[0s 0s 1s 2s 3s 3.5s]" || s.held != (Held{}) || len(told) > 0 {
			t.Errorf("%s, then %v; told %v", got, s.held, told)
		}
	})
}

func TestAClaimWaitsForOneLeaseAtMost(t *testing.T) {
	for name, test := range map[string]struct {
		holder time.Duration // its lease
		ours   time.Duration
		alive  bool
		takes  time.Duration
		err    error
	}{
		"a dead holder":                    {holder: 2 * time.Second, ours: 2 * time.Second, takes: 2 * time.Second},
		"a dead holder of a longer lease":  {holder: 4 * time.Second, ours: time.Second, takes: 4 * time.Second},
		"a dead holder of a shorter lease": {holder: time.Second, ours: 4 * time.Second, takes: 4 * time.Second},
		"a live holder": {holder: 3 * time.Second, ours: 3 * time.Second, alive: true,
			takes: 1200 * time.Millisecond, err: peers.ErrTaken},
		"a live holder of a longer lease": {holder: 6150 * time.Millisecond, ours: time.Second, alive: true,
			takes: 2100 * time.Millisecond, err: peers.ErrTaken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, holder, k := newShelf(), keeper(t, test.holder), keeper(t, test.ours)
				if err := holder.Claim(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				if test.alive {
					var told []error
					defer start(holder, s.listen, &told)()
				}
				synctest.Wait()
				begun := time.Now()
				err := k.Claim(t.Context(), s)
				if took := time.Since(begun); !errors.Is(err, test.err) || took != test.takes {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// While the store was away, its holder could not renew: that it did not is no sign of its death.
func TestAnOutageOfTheStoreIsNoDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, holder, k := newShelf(), keeper(t, 3*time.Second), keeper(t, 3*time.Second)
		if err := holder.Claim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var told []error
		defer start(k, s.listen, &told)() // it does not have the name
		time.Sleep(2 * time.Second)
		s.fail(errors.New("away"))
		time.Sleep(time.Minute)
		s.fail(nil)
		time.Sleep(2500 * time.Millisecond)
		var heard []error
		defer start(holder, s.listen, &heard)()
		time.Sleep(time.Minute)
		if err := holder.Sendable(1); err != nil || slices.ContainsFunc(heard, func(err error) bool {
			return errors.Is(err, peers.ErrTaken)
		}) {
			t.Errorf("the holder: %v, told %v", err, heard)
		}
		if len(told) == 0 || !errors.Is(told[len(told)-1], peers.ErrTaken) {
			t.Errorf("the other was told %v", told)
		}
	})
}

// A claim whose answer was lost is found to be one's own.
func TestAnAnswerThatWasLostIsFoundOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := newShelf(), keeper(t, 3*time.Second)
		s.held = Held{Value: k.claim.by.stamp(time.Second, 9), Revision: 7}
		if err := k.Claim(t.Context(), s); err != nil || !k.claim.by.wrote(s.held) {
			t.Errorf("%v, %v", err, s.held)
		}
	})
}

func TestAStoreThatHangsIsAwayAndNothingIsSentBeyondTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := newShelf(), keeper(t, 3*time.Second)
		if err := k.Claim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var told []error
		stop := start(k, func(ctx context.Context, up func(Store)) error { // a connection that is never there
			<-ctx.Done()
			return ctx.Err()
		}, &told)
		defer stop()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if err := k.Sendable(1); !errors.Is(err, peers.ErrAway) || len(told) != 1 ||
			!errors.Is(told[0], peers.ErrAway) {
			t.Errorf("%v, told %v", err, told)
		}
	})
}

func TestConnectionsThatFailAreMadeAgainWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, tries, panics := keeper(t, 2*time.Second), 0, 0
		var told []error
		stop := start(k, func(context.Context, func(Store)) error {
			if tries++; tries%2 == 0 {
				panics++
				panic("a malformed reply")
			}
			return errors.New("refused")
		}, &told)
		time.Sleep(time.Minute)
		stop()
		if tries < 60 || tries > 130 || panics < 30 || len(told) != 1 || !errors.Is(told[0], peers.ErrAway) {
			t.Errorf("%d tries, %d panics, told %v", tries, panics, told)
		}
	})
}

// A message is told with when it came, however long the receiver took for the one before.
func TestAMessageIsToldWithWhenItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, err := NewKeeper(Config{Name: "a"})
		if err != nil {
			t.Fatal(err)
		}
		s := newShelf()
		if err := k.Claim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		var came []time.Time
		go func() {
			defer close(done)
			k.Run(ctx, s.listen, peers.Events{Away: func(error) {}, Message: func(_ []byte, at time.Time) {
				came = append(came, at)
				time.Sleep(5 * time.Second) // virtual
			}})
		}()
		synctest.Wait()
		begun := time.Now()
		k.Push([]byte("first"))
		time.Sleep(time.Second) // virtual
		k.Push([]byte("second"))
		time.Sleep(10 * time.Second) // virtual
		cancel()
		<-done
		if len(came) != 2 || came[0].Sub(begun) != 0 || came[1].Sub(begun) != time.Second {
			t.Errorf("they came at %v, from %v", came, begun)
		}
	})
}

func TestASlowReceiverLosesTheOldestAndIsToldOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		k, err := NewKeeper(Config{Name: "a", MaxMessage: inboxBytes, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s := newShelf()
		if err := k.Claim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var heard []string
		goOn := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx, s.listen, peers.Events{Away: func(error) {}, Message: func(m []byte, _ time.Time) {
				<-goOn
				heard = append(heard, string(m[:min(len(m), 8)]))
			}})
		}()
		synctest.Wait()
		push := func(m string) { k.Push([]byte(m)); synctest.Wait() }
		for i := range 3000 {
			push(fmt.Sprint(i))
		}
		close(goOn)
		synctest.Wait()
		// the first was being told of
		if len(heard) != maxInbox+1 || heard[0] != "0" || heard[1] != fmt.Sprint(3000-maxInbox) ||
			heard[maxInbox] != "2999" {
			t.Errorf("%d were heard", len(heard))
		}
		goOn = make(chan struct{})
		heard = nil
		for range 3 {
			push(strings.Repeat("x", inboxBytes/2))
		}
		push(strings.Repeat("y", inboxBytes))
		k.mu.Lock()
		waiting, bytes := len(k.inbox.messages), k.inbox.bytes
		k.mu.Unlock()
		if waiting != 1 || bytes != inboxBytes {
			t.Errorf("%d wait, of %d bytes", waiting, bytes)
		}
		close(goOn)
		synctest.Wait()
		cancel()
		<-done
		if n := strings.Count(log.String(), "dropped"); n != 1 || k.Stats().Dropped != 3000-1-maxInbox+2 {
			t.Errorf("logged %d times, counted %d", n, k.Stats().Dropped)
		}
	})
}

// dying is a store that answers once more, and is gone before the answer is read.
type dying struct {
	*shelf
	gone func() // nil while it lives
}

func (d *dying) Swap(ctx context.Context, seen Held, value string) (Held, error) {
	held, err := d.shelf.Swap(ctx, seen, value)
	if d.gone != nil {
		d.fail(errors.New("gone"))
		d.gone()
	}
	return held, err
}

// An answer from before the connection was lost does not say that the store is back.
func TestAnAnswerFromBeforeALossSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := &dying{shelf: newShelf()}, keeper(t, 3*time.Second)
		if err := k.Claim(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var told []error
		listen := func(ctx context.Context, up func(Store)) error {
			s.gone = func() { s.gone = nil; k.Doubt(errors.New("EOF")) }
			up(s)
			<-ctx.Done()
			return ctx.Err()
		}
		stop := start(k, listen, &told)
		time.Sleep(10 * time.Second)
		stop()
		if len(told) != 1 || !errors.Is(told[0], peers.ErrAway) {
			t.Errorf("told %v", told)
		}
	})
}
