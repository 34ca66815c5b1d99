package adapters_test

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"octet/adapters"
)

// event is something that happens in a world at a time.
type event struct {
	at  time.Time
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return cmp.Or(e[i].at.Compare(e[j].at), cmp.Compare(e[i].seq, e[j].seq)) < 0
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// fakeEngine holds adapters as an engine would, in virtual time.
type fakeEngine struct {
	slots  int
	loaded map[string]string // by name: path
	users  map[string]int
	down   bool
	rests  bool
}

// open returns true if requests are sent to a host.
func (w *world) open(h uint16) bool {
	e := w.engines[h]
	return e != nil && !e.down && !e.rests
}

// rest has an engine put its model aside for a time.
func (w *world) rest(h uint16, d time.Duration) {
	e := w.engines[h]
	e.rests = true
	w.p.Rest(h, true)
	w.after(d, func() {
		e.rests = false
		if w.engines[h] == e {
			w.p.Rest(h, false)
		}
	})
}

// world is a Placement with engines, in virtual time. Its invariants are checked after every step.
type world struct {
	t       *testing.T
	p       *adapters.Placement
	dice    *rand.Rand
	now     time.Time
	next    events
	seq     int
	engines map[uint16]*fakeEngine
	faults  float64 // share of loads and unloads that fail
	took    time.Duration
	steps   int
	every   int // steps after which the invariants are looked at; 0 is one

	loads, unloads, failures      int
	deaths                        int // of paths that begin with deadly
	refusals                      int // of paths that begin with /bad
	asked, found, served, refused int
	waited                        time.Duration
}

func newWorld(t *testing.T, seed uint64, hosts, slots int, r adapters.Rules) *world {
	w := &world{t: t, p: adapters.NewPlacement(r), dice: rand.New(rand.NewPCG(seed, 7)), now: adapters.Now,
		engines: map[uint16]*fakeEngine{}, took: time.Second}
	for h := range uint16(hosts) {
		w.join(h, slots)
	}
	return w
}

func (w *world) join(h uint16, slots int) {
	w.engines[h] = &fakeEngine{slots: slots, loaded: map[string]string{}, users: map[string]int{}}
	w.p.HostUp(h, adapters.HostTerms{Loads: true, Lists: true, MaxRunning: 64}, w.now)
	w.observe(h)
}

// observe tells the Placement what an engine has.
func (w *world) observe(h uint16) {
	e := w.engines[h]
	if e == nil || e.down {
		w.p.Down(h, w.now)
		return
	}
	t := adapters.Told{Ops: w.p.Ops(h)}
	for name, path := range e.loaded {
		t.Listed = append(t.Listed, adapters.Listed{Name: name, Path: path})
	}
	w.p.Observe(h, t, w.now)
}

func (w *world) after(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.next, event{w.now.Add(d), w.seq, do})
}

// run lets so much time pass.
func (w *world) run(d time.Duration) {
	end := w.now.Add(d)
	for len(w.next) > 0 && !w.next[0].at.After(end) {
		e := heap.Pop(&w.next).(event)
		w.now = e.at
		e.do()
		w.check()
	}
	w.now = end
}

// check looks at the invariants, after every step, or after every so many.
func (w *world) check() {
	w.t.Helper()
	if w.steps++; w.steps%max(1, w.every) != 0 {
		return
	}
	if err := w.p.Check(); err != nil {
		w.t.Fatal(err)
	}
	if w.steps%1000 == 0 {
		if err := w.p.CheckServing(w.now); err != nil {
			w.t.Fatal(err)
		}
	}
}

// act carries out what the Placement decides.
func (w *world) act(actions []adapters.Action) {
	for _, a := range actions {
		e := w.engines[a.Host]
		if e.rests {
			w.t.Fatalf("%d is told of %s while its engine rests", a.Host, a.Name)
		}
		if a.Load && w.p.Spare(a.Host) < 0 {
			w.t.Fatalf("%d loads %s beyond its slots", a.Host, a.Name)
		}
		w.after(w.took/2+time.Duration(w.dice.Int64N(int64(w.took))), func() { w.end(e, a) })
	}
}

// end is the end of a load or an unload: as asked, or failed half way.
func (w *world) end(e *fakeEngine, a adapters.Action) {
	if w.engines[a.Host] != e {
		return // its replica is gone
	}
	r := adapters.Result{Listed: true}
	bad := a.Load && strings.HasPrefix(a.Path, "/bad")
	failed := bad || e.down || w.dice.Float64() < w.faults
	half := failed && w.dice.IntN(2) == 0
	if a.Load && strings.HasPrefix(a.Path, deadly) && !e.down {
		w.die(a.Host)
		w.p.Loaded(a.Host, a.Name, adapters.Result{Err: adapters.ErrDied, Unsure: true}, w.now)
		return
	}
	if bad {
		r, half = adapters.Result{Err: adapters.ErrRefused}, false
		w.refusals++
	} else if failed {
		r = adapters.Result{Err: errBroken, Unsure: half}
		w.failures++
	}
	switch {
	case a.Load && (!failed || half && w.dice.IntN(2) == 0):
		e.loaded[a.Name] = a.Path
		if len(e.loaded) > e.slots {
			w.t.Fatalf("%d adapters on %d, which has %d slots", len(e.loaded), a.Host, e.slots)
		}
		w.loads++
	case !a.Load && (!failed || half && w.dice.IntN(2) == 0):
		if e.users[a.Name] > 0 {
			w.t.Fatalf("%s is unloaded on %d under %d requests", a.Name, a.Host, e.users[a.Name])
		}
		delete(e.loaded, a.Name)
		w.unloads++
	}
	if a.Load {
		w.p.Loaded(a.Host, a.Name, r, w.now)
	} else {
		w.p.Unloaded(a.Host, a.Name, r, w.now)
	}
	w.act(w.p.StepHost(a.Host, w.now))
}

// tick has the Placement look at everything, and at what engines say, each second.
func (w *world) tick() {
	for h := range w.engines {
		if w.dice.IntN(5) == 0 {
			w.observe(h)
		}
	}
	w.act(w.p.Step(w.now))
	w.after(time.Second, w.tick)
}

// ask is one request for an adapter, which takes so long once it has it.
func (w *world) ask(adapter string, takes time.Duration) {
	w.asked++
	_, name, known := w.p.InForce(adapter)
	if !known {
		w.refused++
		return
	}
	hosts, _ := w.p.Serving(name, w.open, w.now)
	if len(hosts) == 0 {
		w.refused++
		return
	}
	w.claim(hosts[w.dice.IntN(len(hosts))], name, adapter, takes, w.now, true)
}

// claim asks for an edition on a host. One that is refused there goes elsewhere, as a request does.
func (w *world) claim(h uint16, name, adapter string, takes time.Duration, began time.Time, first bool) {
	c, err := w.p.Claim(h, name, 0, w.now)
	if err != nil {
		w.refused++
		return
	}
	if held, _ := c.Outcome(); held {
		if first {
			w.found++
		}
		w.use(c, h, name, takes, began)
		return
	}
	w.act(w.p.StepHost(h, w.now))
	w.await(c, h, name, adapter, takes, began)
}

func (w *world) await(c *adapters.Claim, h uint16, name, adapter string, takes time.Duration, began time.Time) {
	held, err := c.Outcome()
	switch {
	case held:
		w.use(c, h, name, takes, began)
	case err != nil && w.now.Sub(began) < time.Minute:
		_, name, _ := w.p.InForce(adapter)
		hosts, _ := w.p.Serving(name, w.open, w.now)
		if len(hosts) == 0 {
			w.refused++
			return
		}
		w.claim(hosts[0], name, adapter, takes, began, false)
	case err != nil:
		w.refused++
	case w.now.Sub(began) > 2*time.Minute:
		w.p.Release(c, w.now)
		w.refused++
	default:
		w.after(50*time.Millisecond, func() { w.await(c, h, name, adapter, takes, began) })
	}
}

// use holds an adapter for a time.
func (w *world) use(c *adapters.Claim, h uint16, name string, takes time.Duration, began time.Time) {
	e := w.engines[h]
	if e != nil {
		e.users[name]++
	}
	w.served++
	w.waited += w.now.Sub(began)
	w.after(takes, func() {
		if e != nil {
			e.users[name]--
		}
		w.p.Release(c, w.now)
		w.act(w.p.StepHost(h, w.now))
	})
}
