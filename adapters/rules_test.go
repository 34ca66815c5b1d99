package adapters_test

import (
	"slices"
	"testing"
	"time"

	"octet/adapters"
)

// An adapter that takes more of its replica than it may gets another, and gives it back once it needs it no more.
func TestAnAdapterGrowsAndShrinksByItsLoad(t *testing.T) {
	r := adapters.Rules{Slots: 2, Hold: 5 * time.Second, Calm: time.Minute}
	w := newWorld(t, 1, 3, 2, r)
	w.p.Configure(r, declare(2, 1), w.now)
	w.tick()
	w.run(10 * time.Second)
	if n := w.on("a000"); n != 1 {
		t.Fatalf("on %d replicas without load", n)
	}
	for range 40 { // more than half of the 64 that its replica runs
		w.ask("a000", time.Minute)
	}
	w.run(4 * time.Second)
	if n := w.on("a000"); n != 1 {
		t.Errorf("on %d replicas before the load has lasted", n)
	}
	w.run(6 * time.Second)
	if n := w.on("a000"); n != 2 {
		t.Errorf("on %d replicas under load", n)
	}
	w.run(80 * time.Second)
	if n := w.on("a000"); n != 2 {
		t.Errorf("on %d replicas as soon as the load is gone", n)
	}
	w.run(3 * time.Minute)
	if n := w.on("a000"); n != 1 {
		t.Errorf("on %d replicas long after the load", n)
	}
}

// on counts the engines that have an adapter.
func (w *world) on(name string) (n int) {
	for _, e := range w.engines {
		if _, has := e.loaded[name]; has {
			n++
		}
	}
	return n
}

// Requests for more adapters than there are slots, one after the other, are as much thrash as there can be: it is
// bounded by the swaps that a replica may make.
func TestThrashIsBounded(t *testing.T) {
	r := adapters.Rules{Slots: 2, Swaps: 12}
	w := newWorld(t, 1, 1, 2, r)
	w.took = 10 * time.Millisecond
	w.p.Configure(r, declare(6, 1), w.now)
	w.tick()
	for i := range 6 * 60 * 5 {
		w.after(time.Duration(i)*time.Second/6, func() { w.ask(declare(6, 1)[i%6].Name, time.Millisecond) })
	}
	w.run(5 * time.Minute)
	if n := w.p.Tally()[adapters.ForRoom]; n < 50 || n > 5*12+2 {
		t.Errorf("%d swaps in 5 minutes, 12 a minute are allowed", n)
	}
	w.run(5 * time.Minute)
	if w.asked != w.served+w.refused || w.served < w.asked/2 {
		t.Errorf("%d asked, %d served, %d refused", w.asked, w.served, w.refused)
	}
}

// An adapter that is always in use does not keep one out that waits: after Patience it takes no more requests.
func TestAnAdapterInUseMakesRoom(t *testing.T) {
	r := adapters.Rules{Slots: 1, Patience: 2 * time.Second}
	w := newWorld(t, 1, 1, 1, r)
	w.p.Configure(r, declare(2, 1), w.now)
	w.tick()
	for i := range 600 { // never a moment without
		w.after(time.Duration(i)*100*time.Millisecond, func() { w.ask("a000", 500*time.Millisecond) })
	}
	w.run(10 * time.Second)
	before := w.served
	w.after(0, func() { w.ask("a001", time.Second) })
	w.run(10 * time.Second)
	if w.on("a001") != 1 && w.unloads < 1 || w.served <= before {
		t.Errorf("it waits still: %d unloads", w.unloads)
	}
	w.run(2 * time.Minute)
	if w.served != 601 || w.refused != 0 {
		t.Errorf("%d of 601 served, %d refused", w.served, w.refused)
	}
}

// A gateway that begins anew finds what the one before has loaded: an edition under the fresh name that it would give
// it, and another path under the adapter's own, which it leaves alone.
func TestEditionsAreFoundAgain(t *testing.T) {
	r := adapters.Rules{}
	w := newWorld(t, 1, 1, 4, r)
	one := []adapters.Adapter{{Name: "a", Path: "/1", Replicas: 1}}
	two := []adapters.Adapter{{Name: "a", Path: "/2", Replicas: 1}}
	w.p.Configure(r, one, w.now)
	w.tick()
	w.run(10 * time.Second)
	w.p.Configure(r, two, w.now)
	w.run(5 * time.Second)
	_, fresh, _ := w.p.InForce("a")
	if fresh == "a" || w.engines[0].loaded[fresh] != "/2" {
		t.Fatalf("%q is in force, and %v loaded", fresh, w.engines[0].loaded)
	}
	for name, has := range map[string]map[string]string{"fresh": {fresh: "/2"}, "both": {"a": "/1", fresh: "/2"},
		"another path": {"a": "/1"}} {
		again := newWorld(t, 1, 0, 4, r)
		again.p.Configure(r, two, again.now)
		again.join(0, 4)
		again.engines[0].loaded = has
		again.observe(0)
		again.tick()
		again.run(10 * time.Second)
		if _, served, _ := again.p.InForce("a"); served != fresh || again.engines[0].loaded[fresh] != "/2" ||
			name == "fresh" && again.loads != 0 {
			t.Errorf("%s: %q is in force, %v loaded, %d loads", name, served, again.engines[0].loaded, again.loads)
		}
	}
}

// What another gateway, or one before this, has loaded under a name of our own is unloaded once it is not used: an
// edition that is not declared any more. Other names are left alone, and one that is declared again is taken as it is.
func TestAnEditionThatIsNotWantedGoes(t *testing.T) {
	r := adapters.Rules{Calm: time.Minute}
	two := []adapters.Adapter{{Name: "a", Path: "/2", Replicas: 1}}
	w := newWorld(t, 1, 0, 6, r)
	w.p.Configure(r, two, w.now)
	w.join(0, 6)
	w.engines[0].loaded = map[string]string{"a": "/1", "a.0badcafe": "/0", "a.deadbeef": "/x", "b.deadbeef": "/b",
		"a.nothexes": "/y"}
	w.observe(0)
	w.p.Runs(0, []string{"a.deadbeef"}, 8) // by another gateway
	w.tick()
	w.run(30 * time.Second)
	if _, has := w.engines[0].loaded["a.0badcafe"]; !has {
		t.Error("it goes at once, though another gateway may have just begun to use it")
	}
	w.run(time.Minute)
	if has := w.engines[0].loaded; len(has) != 5 || has["a.0badcafe"] != "" || has["a.deadbeef"] == "" {
		t.Errorf("%v are loaded", has)
	}
	w.p.Runs(0, nil, 8)
	w.run(30 * time.Second)
	if has := w.engines[0].loaded; len(has) != 4 || has["a.deadbeef"] != "" {
		t.Errorf("%v are loaded", has)
	}
	// a roll back to what is still there
	_, fresh, _ := w.p.InForce("a")
	again := newWorld(t, 1, 0, 6, r)
	again.p.Configure(r, []adapters.Adapter{{Name: "a", Path: "/1", Replicas: 1}}, again.now)
	again.join(0, 6)
	again.engines[0].loaded = map[string]string{"a": "/1", fresh: "/2"}
	again.observe(0)
	again.tick()
	again.run(5 * time.Second)
	again.p.Configure(r, two, again.now)
	again.run(2 * time.Minute)
	if _, served, _ := again.p.InForce("a"); served != fresh || again.loads != 0 || len(again.engines[0].loaded) != 1 {
		t.Errorf("%s is in force, %v loaded, %d loads", served, again.engines[0].loaded, again.loads)
	}
}

// An adapter that engines refuse costs the others nothing that lasts: what makes room for it is loaded again as soon as
// the load has failed, and is never more than one of those that are needed. It is tried ever more seldom.
func TestAnAdapterThatIsRefusedCostsNoOther(t *testing.T) {
	for _, rotated := range []bool{false, true} {
		r := adapters.Rules{Slots: 2, Swaps: 600}
		w := newWorld(t, 1, 2, 2, r)
		good := declare(4, 1)
		bad := append(slices.Clone(good), adapters.Adapter{Name: "bad", Path: "/bad", Replicas: 1})
		w.p.Configure(r, good, w.now)
		w.tick()
		w.run(10 * time.Second)
		asked := "bad"
		if rotated {
			bad = slices.Clone(good)
			bad[0].Path, asked = "/bad", "a000"
		}
		w.p.Configure(r, bad, w.now)
		for i := range 600 {
			w.after(time.Duration(i)*time.Second, func() {
				w.ask(asked, time.Millisecond)
				missing := 0
				for _, a := range good {
					if w.on(a.Name) == 0 {
						missing++
					}
				}
				if missing > 1 {
					t.Fatalf("%d of the adapters that work are nowhere", missing)
				}
			})
		}
		w.run(10*time.Minute + 10*time.Second)
		for _, a := range good {
			if w.on(a.Name) != 1 {
				t.Errorf("%s is on %d replicas", a.Name, w.on(a.Name))
			}
		}
		if w.refusals < 3 || w.refusals > 16 {
			t.Errorf("it is tried %d times", w.refusals)
		}
	}
}

// An unload that fails is tried again ever more seldom, and shown.
func TestAnUnloadThatFailsIsNotRepeatedAtOnce(t *testing.T) {
	r := adapters.Rules{Slots: 2}
	p := adapters.NewPlacement(r)
	p.Configure(r, declare(2, 1), adapters.Now)
	p.HostUp(1, adapters.HostTerms{Loads: true, Lists: true, MaxRunning: 1}, adapters.Now)
	p.Observe(1, adapters.Told{Listed: []adapters.Listed{{Name: "a000"}, {Name: "a001"}}}, adapters.Now)
	r.Slots = 1 // one has to go
	p.Configure(r, declare(2, 1), adapters.Now)
	now, tries := adapters.Now, 0
	for range 600 {
		now = now.Add(time.Second)
		for _, a := range p.Step(now) {
			tries++
			p.Unloaded(a.Host, a.Name, adapters.Result{Err: errBroken}, now)
		}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
	}
	views := p.Views(1, now)
	if tries < 8 || tries > 20 || len(views) != 2 || views[0].Failures == 0 || views[0].Error == "" {
		t.Errorf("%d tries, shown as %+v", tries, views)
	}
}

// More adapters are asked for at once than there is room for, before anything is loaded: each has a replica.
func TestMoreAreAskedForThanThereIsRoomFor(t *testing.T) {
	p := adapters.NewPlacement(adapters.Rules{Slots: 2})
	p.Configure(adapters.Rules{Slots: 2}, declare(6, 1), adapters.Now)
	p.HostUp(1, adapters.HostTerms{Loads: true, Lists: true, MaxRunning: 1}, adapters.Now)
	for _, a := range declare(6, 1) {
		hosts, _ := p.Serving(a.Name, func(uint16) bool { return true }, adapters.Now)
		if len(hosts) != 1 {
			t.Fatalf("%s is nowhere", a.Name)
		}
		if _, err := p.Claim(hosts[0], a.Name, 0, adapters.Now); err != nil {
			t.Fatal(err)
		}
	}
}

// An engine that loads nothing at run time serves what it has by itself, and nothing else.
func TestAnEngineThatCannotLoad(t *testing.T) {
	p := adapters.NewPlacement(adapters.Rules{})
	declared := []adapters.Adapter{{Name: "has"}, {Name: "hasnot"}, {Name: "path", Path: "/p"}}
	p.Configure(adapters.Rules{}, declared, adapters.Now)
	p.HostUp(1, adapters.HostTerms{Loads: true, Lists: true, MaxRunning: 1}, adapters.Now)
	serving := func(name string) int {
		hosts, _ := p.Serving(name, func(uint16) bool { return true }, adapters.Now)
		return len(hosts)
	}
	if serving("has") != 1 || serving("hasnot") != 1 || serving("path") != 1 {
		t.Error("before it has told anything it may have all")
	}
	p.Observe(1, adapters.Told{Listed: []adapters.Listed{{Name: "has"}}}, adapters.Now)
	if serving("has") != 1 || serving("hasnot") != 0 || serving("path") != 1 {
		t.Error("it has what it lists, and may load what has a path")
	}
	for _, a := range p.Step(adapters.Now) {
		p.Loaded(a.Host, a.Name, adapters.Result{Err: adapters.ErrUnsupported}, adapters.Now)
	}
	if serving("has") != 1 || serving("path") != 0 {
		t.Error("it loads nothing")
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	p.HostUp(2, adapters.HostTerms{MaxRunning: 1}, adapters.Now) // of which nothing can be known
	if serving("hasnot") != 1 || serving("path") != 1 {
		t.Error("one that says nothing is taken to have what is declared")
	}
}
