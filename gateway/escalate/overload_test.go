package escalate

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/gateway/ensemble"
	"octet/scheduler/gate"
	"octet/slo"
)

// One replica in virtual time: places for 16, a prefill of 20 ms and 32 tokens of 10 ms, so that it can do 47 requests
// a second.
const (
	places    = 16
	prefillOf = 20 * time.Millisecond
	tokenOf   = 10 * time.Millisecond
	tokens    = 32
	waits     = 10 * time.Second // at most, in the queue
)

var capacity = places / (prefillOf + tokens*tokenOf).Seconds() // requests a second

// overload is the replica, the gateway before it, and what became of the requests.
type overload struct {
	gate  *gate.Gate
	load  *slo.Escalation
	begun time.Time

	mu       sync.Mutex    // guards all that follows
	work     time.Duration // that the engine did
	finished int
	served   []served
	refused  map[string]int // by priority and why
	late     map[int]int
}

type served struct {
	priority   int
	asked, end time.Duration // since the beginning
}

// ask is one request through relieve's floor, the Gate and the engine.
func (o *overload) ask(priority int, deadline time.Duration) {
	asked := time.Now()
	o.load.Offer("codegen", priority)
	if priority < o.load.Floor() {
		o.refuse(priority, "floor")
		return
	}
	ask := gate.Request{ID: "r", Priority: priority, PromptTokens: 64, MaxNew: tokens, Arrived: asked,
		Victim: true}
	if deadline > 0 {
		ask.Deadline = asked.Add(deadline)
	}
	for {
		t, err := o.gate.Admit(context.Background(), ask)
		if err != nil {
			o.refuse(priority, "gate")
			return
		}
		start := time.Now()
		done := o.compute(t)
		o.worked(time.Since(start))
		if done {
			break
		}
		ask.Paid = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished++
	o.served = append(o.served, served{priority, asked.Sub(o.begun), time.Since(o.begun)})
	if deadline > 0 && time.Since(asked) > deadline {
		o.late[priority]++
	}
}

func (o *overload) refuse(priority int, by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused[fmt.Sprint(priority, " ", by)]++
}

func (o *overload) worked(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.work += d
}

// so returns what was done up to now.
func (o *overload) so() (finished int, work time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.finished, o.work
}

// closing is closed when the place has to be given back.
type closing chan struct{}

func (c closing) Preempted() { close(c) }

// compute is false where the place was taken back before the first token.
func (o *overload) compute(t *gate.Ticket) bool {
	defer t.Release()
	preempted := make(closing)
	t.Watch(preempted)
	defer t.Watch(nil)
	select {
	case <-preempted:
		return false
	case <-time.After(prefillOf):
	}
	if !t.Pin() {
		return false
	}
	t.FirstToken()
	for i := range tokens {
		t.Grow(i + 1)
		time.Sleep(tokenOf)
	}
	return true
}

// offer sends a steady load for a while: of ten requests six are of priority -10, three of 0 and one of 10, which has a
// deadline.
func (o *overload) offer(rate float64, for_ time.Duration) {
	gap := time.Duration(float64(time.Second) / rate)
	for i := range int(for_ / gap) {
		switch i % 10 {
		case 0:
			go o.ask(10, 2*time.Second)
		case 1, 4, 7:
			go o.ask(0, 0)
		default:
			go o.ask(-10, 0)
		}
		time.Sleep(gap)
		synctest.Wait()
	}
}

func (o *overload) p99(from, to time.Duration) time.Duration {
	var took []time.Duration
	for _, s := range o.served {
		if s.asked >= from && s.asked < to {
			took = append(took, s.end-s.asked)
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// MEGA-62, MEGA-63, MEGA-64: five times what the replica can do, for a minute.
func TestAnOverloadOfFiveTimesShedsTheLeastUrgentAndIsOverWhenItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate, err := gate.New(gate.Config{Blocks: 1024, BlockSize: 16, MaxRunning: places,
			MaxWaiting: 256, MaxWait: waits, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		o := &overload{gate: gate, load: slo.NewEscalation(slo.EscalationConfig{}), begun: time.Now(),
			refused: map[string]int{}, late: map[int]int{}}
		rep := &ensemble.Replica{Gate: gate, MaxWaiting: 256}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for ctx.Err() == nil {
				o.load.Observe(replicaPressure(rep, waits), time.Now())
				time.Sleep(100 * time.Millisecond)
			}
		}()
		o.offer(capacity/2, 20*time.Second)
		before, worked := o.so()
		o.offer(5*capacity, time.Minute)
		during, work := o.so()
		during, work = during-before, work-worked
		state := o.load.State()
		o.offer(capacity/2, 30*time.Second)
		time.Sleep(time.Minute)
		cancel()
		time.Sleep(time.Second)
		o.mu.Lock()
		defer o.mu.Unlock()
		once := time.Duration(during+places) * (prefillOf + tokens*tokenOf) // those at work count for what they have
		t.Logf("capacity %.0f/s; during: %d, of work %v for %v; %v; refused %v, late %v; p99 %v before, %v after; %+v",
			capacity, during, work, once, state.Why(), o.refused, o.late, o.p99(0, 20*time.Second),
			o.p99(90*time.Second, 110*time.Second), o.load.State())
		if want := 0.9 * capacity * 60; float64(during) < want {
			t.Errorf("goodput %d, want %.0f at least", during, want)
		}
		if float64(work) > 1.05*float64(once) {
			t.Errorf("work of %v for answers of %v", work, once)
		}
		if o.late[10] > 0 || o.refused["10 floor"] > 0 || o.refused["10 gate"] > 0 || o.refused["-10 floor"] == 0 {
			t.Errorf("refused %v, late %v", o.refused, o.late)
		}
		if was, is := o.p99(0, 20*time.Second), o.p99(90*time.Second, 110*time.Second); is > was*11/10 {
			t.Errorf("p99 %v ten seconds after, %v before", is, was)
		}
		if o.load.Step() != slo.Normal {
			t.Errorf("still at %s", o.load.State().Why())
		}
	})
}
