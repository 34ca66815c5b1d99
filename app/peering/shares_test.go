package peering

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/routing/peers"
	"octet/scheduler/gate"
)

// crowd is a tenant whose requests wait at some gateways all the time.
type crowd struct {
	tenant string
	weight int
	at     []int // gateways
	tokens int   // of each prompt
}

// shared is gateways before one engine, and what tenants have had of it.
type shared struct {
	t      *testing.T
	crowds []crowd
	gates  []*gate.Gate
	links  []*hubLink
	parted bool      // they do not hear each other for a while, before starts count
	from   time.Time // when starts begin to count

	mu     sync.Mutex
	tokens map[string]int
}

const (
	sharedPlaces = 4                // of the engine
	sharedWarm   = 10 * time.Second // half of what was had before the first news is forgotten, and more
	sharedFor    = 35 * time.Second
	sharedDepth  = 12 // requests of a tenant at a gateway
)

// late is a link whose messages take some time.
type late struct {
	*hubLink
	by time.Duration
}

func (l late) Send(to string, message []byte) error {
	if l.by == 0 {
		return l.hubLink.Send(to, message)
	}
	time.AfterFunc(l.by, func() { _ = l.hubLink.Send(to, message) })
	return nil
}

// open starts so many gateways. They end with ctx.
func (s *shared) open(ctx context.Context, n int, delay time.Duration, running *sync.WaitGroup) {
	weights := map[string]int{}
	for _, c := range s.crowds {
		weights[c.tenant] = c.weight
	}
	weight := func(tenant string) int { return weights[tenant] }
	h, key := &hub{links: map[string]*hubLink{}, keys: map[string]peers.Held{}}, peers.Key("http://one", "", "")
	for i := range n {
		member := ledger(s.t, "one", "debug")
		name := fmt.Sprint("gw-", i)
		link := h.link(name)
		s.links = append(s.links, link)
		g := New(Config{Name: name, Lease: 2 * time.Second, Link: late{link, delay}, Weight: weight,
			Log: slog.New(slog.DiscardHandler)})
		admits, err := gate.New(gate.Config{MaxRunning: sharedPlaces, MaxWaiting: 100, Now: time.Now, Weights: weight,
			Shares: g.Shares(key)})
		if err != nil {
			s.t.Fatal(err)
		}
		g.Serve([]Replica{{Key: key, Fleet: member, Gate: admits}})
		s.gates = append(s.gates, admits)
		running.Go(func() { g.Run(ctx) })
	}
}

// part has no gateway hear another for longer than a lease.
func (s *shared) part() {
	time.Sleep(3 * time.Second) // in a bubble
	for _, l := range s.links {
		l.cut()
	}
	time.Sleep(5 * time.Second) // in a bubble
	for _, l := range s.links {
		l.mend()
	}
}

// ask has a request of a crowd answered. A token of its prompt takes a millisecond.
func (s *shared) ask(ctx context.Context, c *crowd, at int) {
	ticket, err := s.gates[at].Admit(ctx, gate.Request{ID: c.tenant, Tenant: c.tenant, PromptTokens: c.tokens,
		MaxNew: 1})
	if err != nil {
		return
	}
	if time.Since(s.from) >= 0 {
		s.mu.Lock()
		s.tokens[c.tenant] += c.tokens
		s.mu.Unlock()
	}
	time.Sleep(time.Duration(c.tokens) * time.Millisecond) // in a bubble
	ticket.FirstToken()
	ticket.Grow(1)
	ticket.Release()
	if err := s.gates[at].Check(); err != nil {
		s.t.Error(err)
	}
}

// play has all tenants' requests wait at their gateways for sharedFor, and checks the bound of decision 0164: of each
// two tenants neither has had more, over its weight, than a sixteenth more than the other, and what starts before the
// news of it come.
func (s *shared) play(n int, delay time.Duration) {
	ctx, end := context.WithTimeout(s.t.Context(), sharedFor)
	defer end()
	s.from, s.tokens = time.Now().Add(sharedWarm), map[string]int{}
	var running sync.WaitGroup
	s.open(ctx, n, delay, &running)
	if s.parted {
		running.Go(s.part)
	}
	for i := range s.crowds {
		c := &s.crowds[i]
		for _, at := range c.at {
			for range sharedDepth {
				running.Go(func() {
					for ctx.Err() == nil {
						s.ask(ctx, c, at)
					}
				})
			}
		}
	}
	running.Wait()
	sum := 0
	for _, c := range s.crowds {
		sum += s.tokens[c.tenant]
		for _, o := range s.crowds {
			had, other := float64(s.tokens[c.tenant])/float64(c.weight), float64(s.tokens[o.tenant])/float64(o.weight)
			news := float64(sharedPlaces*c.tokens)/float64(c.weight) + float64(sharedPlaces*o.tokens)/float64(o.weight)
			if had > other*17/16+news {
				s.t.Errorf("%+v has had %.0f over its weight, %+v %.0f", c, had, o, other)
			}
		}
	}
	if least := int((sharedFor - sharedWarm).Milliseconds()) * sharedPlaces * 95 / 100; sum < least {
		s.t.Errorf("the engine has computed %d tokens of %d and more", sum, least)
	}
}

// Of tenants whose requests wait for one engine each has its share of it, by their weights, at however many
// gateways the requests of each come in.
func TestTenantsShareAnEngineAcrossGateways(t *testing.T) {
	for name, test := range map[string]struct {
		gateways int
		crowds   []crowd
	}{
		"each at its own":       {2, []crowd{{"a", 1, []int{0}, 300}, {"b", 1, []int{1}, 100}}},
		"one at two":            {2, []crowd{{"a", 1, []int{0, 1}, 100}, {"b", 1, []int{0}, 100}}},
		"one at two, long ones": {2, []crowd{{"a", 1, []int{0, 1}, 300}, {"b", 1, []int{0}, 100}}},
		"one at all of four":    {4, []crowd{{"a", 1, []int{0, 1, 2, 3}, 100}, {"b", 1, []int{0}, 100}}},
		"one at three, apart":   {4, []crowd{{"a", 1, []int{0, 1, 2}, 100}, {"b", 1, []int{3}, 100}}},
		"the other weighs more": {4, []crowd{{"a", 1, []int{0, 1, 2}, 100}, {"b", 3, []int{2}, 100}}},
		"both at both":          {2, []crowd{{"a", 3, []int{0, 1}, 100}, {"b", 1, []int{0, 1}, 100}}},
		"one at two, two at one": {2, []crowd{{"a", 1, []int{0, 1}, 100}, {"b", 1, []int{0}, 100},
			{"c", 1, []int{1}, 200}}},
		"three in a ring": {3, []crowd{{"a", 1, []int{0, 1}, 100}, {"b", 1, []int{1, 2}, 100},
			{"c", 1, []int{2, 0}, 100}}},
	} {
		for _, delay := range []time.Duration{20 * time.Millisecond, 100 * time.Millisecond} {
			t.Run(fmt.Sprint(name, ", ", delay), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { (&shared{t: t, crowds: test.crowds}).play(test.gateways, delay) })
			})
		}
	}
}

// Gateways that could not hear each other for longer than a lease share an engine again once they can.
func TestTenantsShareAnEngineAfterAPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shared{t: t, crowds: []crowd{{"a", 1, []int{0, 1, 2}, 100}, {"b", 1, []int{0}, 100}}, parted: true}
		s.play(3, 20*time.Millisecond)
	})
}

// The same of tenants that are drawn: one to four gateways, two to four tenants.
func TestAnyTenantsShareAnEngineAcrossGateways(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := rand.New(rand.NewPCG(seed, 24))
			n := 1 + d.IntN(4)
			var crowds []crowd
			for i := range 2 + d.IntN(3) {
				crowds = append(crowds, crowd{tenant: string(rune('a' + i)), weight: 1 + d.IntN(4),
					at: d.Perm(n)[:1+d.IntN(n)], tokens: 50 + d.IntN(250)})
			}
			synctest.Test(t, func(t *testing.T) {
				(&shared{t: t, crowds: crowds}).play(n, time.Duration(d.IntN(100))*time.Millisecond)
			})
		})
	}
}
