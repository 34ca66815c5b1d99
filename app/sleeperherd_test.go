package app_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
)

// herd asks so many requests at once and in the second after, some with deadlines, priorities and clients that leave.
// It returns what came of each, by its number.
func herd(b *bubble, n int) []outcome {
	all := make([]outcome, n)
	var asking sync.WaitGroup
	for i := range n {
		asking.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var headers []string
			switch {
			case leaves(i):
				hangup := time.AfterFunc(time.Duration(1+i%17)*997*time.Millisecond, cancel)
				defer hangup.Stop()
			case hurried(i): // the replica is awake after twelve seconds
				headers = append(headers, "X-Deadline-Ms", strconv.Itoa(5000+100*(i%7)))
			}
			headers = append(headers, "X-Priority", strconv.Itoa(i%5))
			time.Sleep(time.Duration(i%20) * 50 * time.Millisecond)
			all[i] = b.outcome(ctx, brief(i), headers...)
		})
	}
	asking.Wait()
	return all
}

func leaves(i int) bool  { return i%11 == 3 }
func hurried(i int) bool { return !leaves(i) && i%13 == 5 }

// watchPool returns the most requests that ran at a time at any engine, until ctx ends.
func watchPool(ctx context.Context, b *bubble) *atomic.Int64 {
	most := new(atomic.Int64)
	go func() {
		for ctx.Err() == nil {
			for _, e := range b.Engines {
				most.Store(max(most.Load(), int64(e.Stats().Running)))
			}
			time.Sleep(500 * time.Microsecond)
		}
	}()
	return most
}

// A herd of 500 finds two replicas asleep. One is woken, once; the other when requests queue at the first, once.
// Requests run as the pools have places, the urgent before the others of their age, and each ends once: whole, in its
// deadline's refusal, or with its client's leaving.
func TestAHerdWakesEachReplicaOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
		b.Serve(twoSleepers, "specialists[0].scheduler.max_waiting=600", "specialists[0].scheduler.max_running=4",
			"limits.max_queue_wait=60s")
		time.Sleep(3 * time.Second)
		ctx, end := context.WithCancel(t.Context())
		defer end()
		most := watchPool(ctx, b)
		began := time.Now()
		all := herd(b, 500)
		took := time.Since(began)
		var sent int64
		for i, o := range all {
			want := []string{""}
			if leaves(i) {
				want = []string{"left", ""}
			} else if hurried(i) {
				want = []string{"deadline_unachievable"}
			}
			early := o.code == "" && (o.status != http.StatusOK || o.took < loads-time.Second)
			if early || !slices.Contains(want, o.code) {
				t.Errorf("%d: %+v", i, o)
			}
			if o.code == "" {
				sent++
			}
		}
		if took > loads+30*time.Second {
			t.Errorf("the last is answered after %v", took)
		}
		time.Sleep(loads + 5*time.Second) // the other replica has woken as well
		asked := b.Engines["debug-0"].Asked.Load() + b.Engines["debug-1"].Asked.Load()
		if asked < sent || asked > int64(len(all)) {
			t.Errorf("%d answers, and engines were asked %d times", sent, asked)
		}
		for _, name := range []string{"debug-0", "debug-1"} {
			if n := b.woken(name); n > 1 {
				t.Errorf("%s was woken %d times", name, n)
			}
		}
		if n := most.Load(); n > 4 {
			t.Errorf("%d ran at a time at one engine", n)
		}
		if n := b.Metric("http://admin", "octet_held_requests"); n != 0 || !b.Quiet() {
			t.Errorf("%v are held, or something is", n)
		}
		if q := b.App.Server().Runtime().Specialist("debug").Hold; q.Check() != nil || q.Passing() != 0 {
			t.Errorf("%d passes are out: %v", q.Passing(), q.Check())
		}
	})
}

// Beyond the hold a herd is told when to come back, by what is known; those that come back then are served.
func TestAHerdComesBackWhenItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0"), sleeperEngine("debug-1")})
		b.Serve(twoSleepers, "specialists[0].scheduler.max_waiting=600", "specialists[0].sleep.hold=5s",
			"limits.max_queue_wait=60s")
		time.Sleep(3 * time.Second)
		var asking sync.WaitGroup
		for i := range 100 {
			asking.Go(func() {
				o := b.outcome(context.Background(), brief(i))
				after, err := strconv.Atoi(o.after)
				// nothing was measured: it is taken to last as long again as it has
				if o.code != "no_healthy_replica" || o.took != 5*time.Second || err != nil || after != 5 {
					t.Errorf("%d: %+v", i, o)
					return
				}
				time.Sleep(time.Duration(after) * time.Second)
				if o := b.outcome(context.Background(), brief(i)); o.code != "" || o.status != http.StatusOK {
					t.Errorf("%d comes back: %+v", i, o)
				}
			})
		}
		asking.Wait()
		if n := b.woken("debug-0") + b.woken("debug-1"); n < 1 || n > 2 || !b.Quiet() {
			t.Errorf("woken %d times, or something is held", n)
		}
	})
}

// A program that hangs while a herd waits is ended in its time, and is shown; after a pause it is run again, and what
// still waits is let in. One program runs at a time.
func TestAHerdOutlastsAProgramThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, []emulator.Config{sleeperEngine("debug-0")})
		var ran, running, most atomic.Int64
		b.RunProgram = func(ctx context.Context, _ string, _ []string) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			if ran.Add(1) == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			resp, err := b.Ask(ctx, http.MethodPost, "http://debug-0/wake_up", "")
			if err == nil {
				resp.Body.Close()
			}
			return err
		}
		b.Serve(sleeperWorld, "specialists[0].sleep.wake.command=/bin/wake", "specialists[0].sleep.wake.timeout=13s",
			"specialists[0].sleep.hold=60s", "specialists[0].scheduler.max_waiting=600", "limits.max_queue_wait=60s")
		time.Sleep(3 * time.Second)
		var shown string
		var watching sync.WaitGroup
		watching.Go(func() {
			time.Sleep(20 * time.Second) // between the two
			shown = fmt.Sprint(b.Metric("http://admin", "octet_wakeups_total", `result="failed"`), running.Load(),
				b.Metric("http://admin", "octet_held_requests") > 400)
		})
		for i, o := range b.crowd(450) {
			if o.code != "" || o.took < 13*time.Second+10*time.Second+loads {
				t.Errorf("%d: %+v", i, o)
			}
		}
		watching.Wait()
		if want := "1 0 true"; shown != want || ran.Load() != 2 || most.Load() != 1 {
			t.Errorf("shown %q, want %q; run %d times, %d at a time", shown, want, ran.Load(), most.Load())
		}
		if !b.Quiet() || b.Metric("http://admin", "octet_held_requests") != 0 {
			t.Error("something is held")
		}
	})
}
