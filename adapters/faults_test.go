package adapters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/adapters"
	"octet/internal/race"
)

// Engines fail loads half way, hosts go down, come back empty, leave, join and put their models aside, adapters change
// their path, their number of replicas and their existence, slots become fewer: invariants hold after every step, every
// request is served or refused, and afterwards all is as declared.
func TestPlacementKeepsItsInvariants(t *testing.T) {
	race.Skip(t)
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			d := &disorder{hosts: 5, next: 100,
				rules: adapters.Rules{Slots: 3, Retry: time.Second, Calm: 5 * time.Second,
					Linger: 2 * time.Second, Swaps: 60}}
			d.world = newWorld(t, seed, d.hosts, 4, d.rules)
			d.declared = declare(12, 0)
			for i := range d.declared {
				d.declared[i].Replicas = d.dice.IntN(4)
			}
			d.p.Configure(d.rules, d.declared, d.now)
			d.tick()
			d.faults = 0.2
			for range 400 {
				d.disturb()
				for range d.dice.IntN(10) {
					d.ask(d.declared[d.dice.IntN(len(d.declared))].Name,
						time.Duration(d.dice.Int64N(int64(5*time.Second))))
					d.check()
				}
				d.run(time.Duration(d.dice.Int64N(int64(2 * time.Second))))
			}
			d.settle()
		})
	}
}

// disorder is a world in which nothing stays as it is.
type disorder struct {
	*world
	hosts    int
	next     uint16
	rules    adapters.Rules
	declared []adapters.Adapter
}

// disturb does one thing to the world, or none.
func (d *disorder) disturb() {
	h := d.any()
	a := &d.declared[d.dice.IntN(len(d.declared))]
	switch d.dice.IntN(14) {
	case 0:
		d.engines[h].down = true
		d.p.Down(h, d.now)
	case 1: // its engine has begun anew
		d.engines[h].down, d.engines[h].loaded = false, map[string]string{}
		d.engines[h].users = map[string]int{}
		d.observe(h)
	case 2:
		d.p.HostGone(h, d.now)
		delete(d.engines, h)
		d.next++
		d.join(d.next, 4)
	case 3:
		a.Path += "'"
		if d.dice.IntN(4) == 0 {
			a.Path = "/bad" + a.Path
		}
	case 4:
		a.Version = fmt.Sprint(d.dice.IntN(3))
	case 5:
		a.Replicas = d.dice.IntN(4)
	case 6:
		d.rules.Slots = 1 + d.dice.IntN(4)
	case 7: // another in its place
		d.next++
		*a = adapters.Adapter{Name: fmt.Sprint("b", d.next), Path: "/b", Replicas: 1}
	case 8:
		d.rest(h, time.Duration(d.dice.Int64N(int64(20*time.Second))))
	default:
		return
	}
	d.check()
	d.p.Configure(d.rules, d.declared, d.now)
	d.check()
}

func (d *disorder) any() uint16 {
	all := make([]uint16, 0, len(d.engines))
	for h := range d.engines {
		all = append(all, h)
	}
	slices.Sort(all)
	return all[d.dice.IntN(len(all))]
}

// settle lets the disorder end: then each adapter is where it is declared to be, no edition that was replaced is left,
// and no engine has more than its slots.
func (d *disorder) settle() {
	d.faults, d.rules.Slots = 0, 4
	for h, e := range d.engines {
		e.down = false
		d.observe(h)
	}
	d.declared = d.declared[:4]
	for i := range d.declared {
		d.declared[i].Replicas = 2
		d.declared[i].Path = strings.ReplaceAll(d.declared[i].Path, "/bad", "")
	}
	d.p.Configure(d.rules, d.declared, d.now)
	d.run(10 * time.Minute)
	if d.asked != d.served+d.refused {
		d.t.Errorf("%d are asked for, %d served and %d refused", d.asked, d.served, d.refused)
	}
	if d.refused > d.asked/2 || d.loads < 100 || d.failures < 10 {
		d.t.Errorf("%d of %d refused, %d loads, %d failures", d.refused, d.asked, d.loads, d.failures)
	}
	for _, a := range d.declared {
		b, name, _ := d.p.InForce(a.Name)
		if b != a {
			d.t.Errorf("%+v is in force, and %+v declared", b, a)
		}
		n := 0
		for _, e := range d.engines {
			if path, has := e.loaded[name]; has && path == a.Path {
				n++
			}
		}
		if n != 2 {
			d.t.Errorf("%s is on %d replicas, not on 2", name, n)
		}
	}
	for h, e := range d.engines {
		if len(e.loaded) > 4 {
			d.t.Errorf("%d has %v", h, e.loaded)
		}
	}
}
