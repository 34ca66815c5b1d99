package hold

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/scheduler"
)

func newQueue(most, width int, terms Terms) *Queue {
	return New(Config{MaxWaiting: most, Width: width, Ceiling: 100, Now: time.Now,
		Terms: func() Terms { return terms }})
}

func asked(id string, priority int, tenant string) Request {
	return Request{ID: id, Priority: priority, Tenant: tenant, Cost: 1, Arrived: time.Now()}
}

// Requests are let out by priority, then by their tenants' shares, then by arrival, one after the other.
func TestWhatIsHeldIsLetOutInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(10, 1, Terms{For: time.Minute})
		var mu sync.Mutex
		var order []string
		for _, r := range []Request{asked("a1", 0, "a"), asked("a2", 0, "a"), asked("a3", 0, "a"), asked("b1", 0, "b"),
			asked("c1", 5, "a")} {
			time.Sleep(time.Millisecond)
			r.Arrived = time.Now()
			w, err := q.Enter(r)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				pass, err := w.Await(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				order = append(order, r.ID)
				mu.Unlock()
				pass.End()
				pass.End() // idempotent
			}()
		}
		synctest.Wait()
		q.Open(true)
		synctest.Wait()
		if want := []string{"c1", "a1", "b1", "a2", "a3"}; !slices.Equal(order, want) {
			t.Errorf("let out %v, want %v", order, want)
		}
		if err := q.Check(); err != nil {
			t.Error(err)
		}
	})
}

// What may not wait is refused with its reason, and with the time that is known.
func TestWhatIsNotHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		terms := Terms{For: 10 * time.Second, Back: 3 * time.Second, Retry: 4 * time.Second}
		q := newQueue(2, 1, terms)
		refused := func(what string, err error, reason error) {
			t.Helper()
			var no *scheduler.Refusal
			if !errors.As(err, &no) || !errors.Is(err, reason) || no.RetryAfter != terms.Retry ||
				no.Wait != terms.Back {
				t.Errorf("%s: %v, want %v", what, err, reason)
			}
		}
		late := asked("late", 0, "a")
		late.Deadline = time.Now().Add(2 * time.Second)
		_, err := q.Enter(late)
		refused("a deadline before a replica serves", err, scheduler.ErrDeadline)
		old := asked("old", 0, "a")
		old.Since = time.Now().Add(-10 * time.Second)
		_, err = q.Enter(old)
		refused("a hold that is over", err, scheduler.ErrNoReplica)
		first, _ := q.Enter(asked("first", 0, "a"))
		second, _ := q.Enter(asked("second", 0, "a"))
		_, err = q.Enter(asked("third", 0, "a"))
		refused("no place", err, scheduler.ErrQueueFull)
		urgent := asked("urgent", 1, "a")
		urgent.Deadline = time.Now().Add(5 * time.Second)
		third, err := q.Enter(urgent)
		if err != nil {
			t.Fatal(err)
		}
		_, err = second.Await(t.Context())
		refused("the last gives way", err, scheduler.ErrQueueFull)
		began := time.Now()
		_, err = third.Await(t.Context())
		if refused("its deadline", err, scheduler.ErrDeadline); time.Since(began) != 5*time.Second {
			t.Errorf("after %v", time.Since(began))
		}
		_, err = first.Await(t.Context())
		if refused("its hold", err, scheduler.ErrNoReplica); time.Since(began) != 10*time.Second {
			t.Errorf("after %v", time.Since(began))
		}
		if err := q.Check(); err != nil || q.Len() != 0 {
			t.Error(err, q.Len())
		}
	})
}

// Whatever happens in whatever order, each request ends once and nothing stays: clients leave, queues open and close,
// passes end late or at once.
func TestNothingIsLostInAQueue(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 7))
			q := newQueue(1+dice.IntN(20), 1+dice.IntN(4), Terms{For: 2 * time.Second})
			var asking sync.WaitGroup
			for i := range 200 {
				time.Sleep(time.Duration(dice.IntN(40)) * time.Millisecond)
				switch dice.IntN(12) {
				case 0:
					q.Open(dice.IntN(2) == 0)
				case 1:
					q.Close()
				case 2:
					q.Reconfigure(Config{MaxWaiting: 1 + dice.IntN(20), Width: 4, Ceiling: 100,
						Aging: time.Duration(dice.IntN(2)) * 100 * time.Millisecond})
				}
				r := asked(fmt.Sprint(i), dice.IntN(3), string(rune('a'+dice.IntN(3))))
				leaves := time.Duration(dice.IntN(3000)) * time.Millisecond
				holds := time.Duration(dice.IntN(50)) * time.Millisecond
				if dice.IntN(3) == 0 {
					r.Deadline = time.Now().Add(time.Duration(dice.IntN(3000)) * time.Millisecond)
				}
				asking.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), leaves)
					defer cancel()
					w, err := q.Enter(r)
					if err != nil {
						return
					}
					pass, err := w.Await(ctx)
					if err == nil {
						time.Sleep(holds)
						pass.End()
					}
					if (err == nil) == (pass == nil) {
						t.Errorf("seed %d: %v and %v", seed, pass, err)
					}
				})
				synctest.Wait()
				if err := q.Check(); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			asking.Wait()
			if err := q.Check(); err != nil || q.Len() != 0 || q.passing != 0 {
				t.Errorf("seed %d: %v, %d wait, %d passes", seed, err, q.Len(), q.passing)
			}
		})
	}
}

// Each request wants a replica, those that are refused as well: for want of a place, of time, or of a hold.
func TestARequestThatIsRefusedWantsAReplicaToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wanted, terms := 0, Terms{For: 10 * time.Second, Back: 3 * time.Second}
		c := Config{Ceiling: 100, Now: time.Now, Terms: func() Terms { return terms }, Entered: func() { wanted++ }}
		none := New(c)
		_, err := none.Enter(asked("no place", 0, "a"))
		if !errors.Is(err, scheduler.ErrQueueFull) || wanted != 1 {
			t.Errorf("%v: wanted %d times", err, wanted)
		}
		late := asked("late", 0, "a")
		late.Deadline = time.Now().Add(time.Second)
		if _, err = none.Enter(late); !errors.Is(err, scheduler.ErrDeadline) || wanted != 2 {
			t.Errorf("%v: wanted %d times", err, wanted)
		}
		terms.For = 0
		if _, err = none.Enter(asked("no hold", 0, "a")); !errors.Is(err, scheduler.ErrNoReplica) || wanted != 3 {
			t.Errorf("%v: wanted %d times", err, wanted)
		}
	})
}
