package gate

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"octet/kvpool"
	"octet/scheduler"
	slow "octet/scheduler/internal/naive"
	"octet/scheduler/queue"
)

// gateWorld drives a Gate and the naive one through the same calls, without goroutines: what waits is a waiter in hand.
type gateWorld struct {
	gate      *Gate
	naive     *naiveGate
	cfg       Config
	now       time.Time
	asked     int
	tickets   map[int]*Ticket
	waiters   map[int]*Wait
	displaced int // the one that has to leave a full queue by now; 0 means none
}

func newGateWorld(d *slow.Dice) (*gateWorld, error) {
	w := &gateWorld{now: time.Unix(1, 0), tickets: map[int]*Ticket{}, waiters: map[int]*Wait{}}
	w.cfg = Config{
		Blocks: 3 + d.Roll(14), BlockSize: 1 + d.Roll(4), MaxRunning: 1 + d.Roll(6), MaxWaiting: d.Roll(12),
		Now:     func() time.Time { return w.now },
		Weights: func(tenant string) int { return naiveTenants[tenant] },
	}
	g, err := New(w.cfg)
	w.gate = g
	w.naive = &naiveGate{Pool: slow.NewPool(w.cfg.Blocks, w.cfg.BlockSize, 3), places: w.cfg.MaxRunning,
		shares: newNaiveShares()}
	w.naive.prefill = func(key int) time.Duration {
		return w.gate.model.engine.rates.prefillTime(&w.tickets[key].lease)
	}
	return w, err
}

func (w *gateWorld) ask(d *slow.Dice) error {
	w.asked++
	word, prompt := d.Roll(3), 1+d.Roll(3*w.cfg.BlockSize+2)
	r := Request{
		ID: fmt.Sprint(w.asked), Priority: d.Roll(3), PromptTokens: prompt, MaxNew: d.Roll(10),
		Resume: max(0, d.Roll(8)-4), Victim: d.Roll(2) == 0, Tenant: string(rune('a' + d.Roll(3))),
		Paid: d.Roll(8) == 1,
	}
	tokens := make([]uint32, prompt)
	for i := range tokens {
		tokens[i] = uint32(word*100 + i)
	}
	more := rollMore(d, w.cfg.BlockSize, prompt)
	r.N, r.Further = more.n, more.rest(w.cfg.BlockSize)
	h := kvpool.NewHasher(3)
	r.Chain = h.Chain(nil, naiveRoot, tokens, w.cfg.BlockSize)
	if d.Roll(4) == 1 {
		r.Arrived = time.Unix(0, int64(d.Roll(5)))
	}
	probe := w.gate.Probe(r)
	if again := w.gate.Probe(r); again != probe {
		return fmt.Errorf("probe says %v, then %v", probe, again)
	}
	t, waiter, err := w.gate.ask(&r)
	if state := w.settled(t, err); probe.State != state {
		return fmt.Errorf("probe says %v, the request was %v (%v)", probe, state, err)
	}
	arrival := w.now.Sub(time.Unix(1, 0))
	if !r.Arrived.IsZero() {
		arrival = r.Arrived.Sub(time.Unix(1, 0))
	}
	mirror := &naiveWaiter{
		key: w.asked, rank: queue.Rank{Priority: r.Priority, Arrival: arrival, ID: uint64(w.asked)}, tokens: tokens,
		resume: r.Resume, victim: r.Victim, more: more, tenant: r.Tenant, most: r.MaxNew, paid: r.Paid,
	}
	return w.compareAsk(r, mirror, t, waiter, err)
}

func (w *gateWorld) settled(t *Ticket, err error) scheduler.State {
	switch {
	case err != nil:
		return scheduler.Refused
	case t != nil:
		return scheduler.Admitted
	}
	return scheduler.Waiting
}

func (w *gateWorld) compareAsk(r Request, mirror *naiveWaiter, t *Ticket, waiter *Wait, err error) error {
	alone := naiveHold{tokens: mirror.tokens}
	large := max(w.naive.needs(&alone, mirror.more, r.Resume, 1),
		w.naive.needs(&alone, mirror.more, 0, r.MaxNew)) > w.cfg.Blocks
	if errors.Is(err, scheduler.ErrExceedsPool) != large {
		return fmt.Errorf("%+v: %v, too large: %t", r, err, large)
	}
	if large {
		return nil
	}
	first := w.naive.shares.leads(w.naive.waiting, mirror)
	starts := first && w.naive.fits(mirror)
	full := !starts && len(w.naive.waiting) >= w.cfg.MaxWaiting && r.Resume == 0 &&
		!(first && w.naive.copied().wouldStart(mirror))
	out := w.naive.displaced(mirror, w.cfg.MaxWaiting)
	full = full && out == nil
	if errors.Is(err, scheduler.ErrQueueFull) != full || (t != nil) != starts {
		return fmt.Errorf("%+v: %v, %v; full: %t, starts: %t", r, t, err, full, starts)
	}
	switch {
	case starts:
		head := w.naive.head()
		w.naive.begin(mirror)
		w.tickets[mirror.key] = t
		if w.naive.head() != head { // its tenant has paid, so that another's is next
			w.naive.settle()
		}
	case !full:
		if out != nil && len(w.naive.waiting) >= w.cfg.MaxWaiting {
			w.displaced = out.key
			w.naive.drop(out)
		}
		w.naive.push(mirror)
		w.waiters[mirror.key] = waiter
		if w.naive.head() == mirror { // a newcomer behind others changes nothing for them
			w.naive.settle()
		}
	}
	return nil
}

// collect takes the tickets that waiters got.
func (w *gateWorld) collect() error {
	for key, waiter := range w.waiters {
		select {
		case <-waiter.settled:
			delete(w.waiters, key)
			if waiter.granted() == nil && key == w.displaced &&
				errors.Is(waiter.waiter.refusal, scheduler.ErrQueueFull) {
				w.displaced = 0
				continue
			}
			if waiter.granted() == nil {
				return fmt.Errorf("%d was refused: %v", key, waiter.waiter.refusal)
			}
			w.tickets[key] = waiter.granted()
		default:
		}
	}
	if w.displaced != 0 {
		return fmt.Errorf("%d was not displaced", w.displaced)
	}
	return nil
}

// pick draws one of m's keys.
func pick[V any](d *slow.Dice, m map[int]V) int {
	var keys []int
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys[d.Roll(len(keys))]
}

func (w *gateWorld) act(d *slow.Dice) error {
	w.now = w.now.Add(time.Millisecond)
	w.naive.now = w.now.Sub(time.Unix(1, 0))
	op := d.Roll(10)
	switch {
	case op < 3:
		return w.ask(d)
	case op == 9:
		w.elsewhere(string(rune('a'+d.Roll(3))), d.Roll(3), 8*d.Roll(8)-8)
	case op == 3 && len(w.waiters) > 0:
		w.giveUp(pick(d, w.waiters))
	case len(w.tickets) > 0:
		w.touch(d, op, pick(d, w.tickets))
	}
	return nil
}

// elsewhere has another gateway start something.
func (w *gateWorld) elsewhere(tenant string, priority, cost int) {
	w.gate.Elsewhere(tenant, priority, cost)
	if len(w.naive.waiting) == 0 {
		return
	}
	head := w.naive.head()
	w.naive.shares.amends(priority, tenant, cost)
	if w.naive.head() != head {
		w.naive.settle()
	}
}

// measured has the naive one go by what the Gate has measured.
func (w *gateWorld) measured() { w.naive.rates = w.gate.model.engine.rates }

func (w *gateWorld) giveUp(key int) {
	w.gate.abandon(w.waiters[key])
	delete(w.waiters, key)
	w.naive.drop(w.naive.waiting[slices.IndexFunc(w.naive.waiting,
		func(o *naiveWaiter) bool { return o.key == key })])
	w.measured()
	w.naive.settle()
}

func (w *gateWorld) touch(d *slow.Dice, op, key int) {
	t := w.tickets[key]
	i := slices.IndexFunc(w.naive.tickets, func(o *naiveTicket) bool { return o.key == key })
	mirror := w.naive.tickets[i]
	before := w.gate.model.engine.rates
	switch op {
	case 4:
		t.FirstToken()
		w.measured()
		if !mirror.first {
			w.naive.prefilled(mirror)
			w.naive.settle()
		}
	case 5, 6:
		said := mirror.said + d.Roll(6) - 1
		t.Grow(said)
		w.measured()
		early := !mirror.first && said > mirror.said
		w.naive.grow(mirror, said)
		if early {
			w.naive.settle()
		}
	case 7:
		if t.Pin() == mirror.yielding {
			panic("pinned although told to give way, or the other way round")
		}
		mirror.victim = mirror.victim && mirror.yielding
	default:
		t.Release()
		t.Release()
		w.measured()
		delete(w.tickets, key)
		w.naive.release(mirror, before)
	}
}

// picture is what is compared with the naive one, as text.
func (w *gateWorld) picture() string {
	var lines []string
	for key, t := range w.tickets {
		l := &t.lease
		lines = append(lines,
			fmt.Sprintf("%03d in %v owed %d yielding %t", key, l.table.Blocks(), l.overcommit, l.yielding))
	}
	for key := range w.waiters {
		lines = append(lines, fmt.Sprintf("%03d waits", key))
	}
	slices.Sort(lines)
	s := w.gate.Stats()
	return fmt.Sprint(lines, " free ", s.Free, " reserved ", s.Reserved, " cached ", s.Cached)
}

func (w *gateWorld) check() error {
	if err := w.collect(); err != nil {
		return err
	}
	if err := w.gate.Check(); err != nil {
		return err
	}
	if got, want := w.picture(), w.naive.picture(); got != want {
		return fmt.Errorf("the gate has\n%s\nand naively\n%s", got, want)
	}
	s := w.gate.Stats()
	if s.Free+s.Used+s.Reserved != s.Total || min(s.Free, s.Used, s.Reserved) < 0 {
		return fmt.Errorf("%d free + %d used + %d reserved is not %d", s.Free, s.Used, s.Reserved, s.Total)
	}
	return nil
}

func simulateGate(bytes []byte) error {
	d := &slow.Dice{Bytes: bytes}
	w, err := newGateWorld(d)
	if err != nil {
		return err
	}
	for len(d.Bytes) > 0 {
		if err := w.act(d); err != nil {
			return err
		}
		if err := w.check(); err != nil {
			return err
		}
	}
	for len(w.tickets) > 0 { // all that wait get in when the others leave
		w.touch(d, 8, pick(d, w.tickets))
		if err := w.check(); err != nil {
			return err
		}
	}
	if s := w.gate.Stats(); s.Free != s.Total || s.Waiting != 0 || s.Preempting != 0 {
		return fmt.Errorf("quiet, but %+v", s)
	}
	return nil
}

// MEGA-22…25, 43: the Gate lets in, queues, preempts, lends and refuses as the naive one does.
func TestGateDoesWhatTheNaiveOneDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		if err := simulateGate(rapid.SliceOfN(rapid.Byte(), 200, 1500).Draw(t, "bytes")); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzGate(f *testing.F) {
	f.Add([]byte{8, 3, 3, 4, 0, 0, 9, 1, 0, 0, 4, 0, 5, 0, 3, 0, 1, 9, 1, 0, 0, 8, 0})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		if err := simulateGate(bytes[:min(len(bytes), 2000)]); err != nil {
			t.Fatal(err)
		}
	})
}
