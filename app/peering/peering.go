package peering

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"octet/app/peering/ledgers"
	"octet/gateway/receipt"
	"octet/gateway/tenant"
	"octet/internal/contain"
	"octet/kvpool"
	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
	"octet/slo"
)

// Every is how often a gateway tells what has changed, at most.
const Every = 20 * time.Millisecond

// tellEvery is how often replicas are told of messages, at most: many gateways' messages are told at once.
const tellEvery = Every / 2

// Config says how a gateway is one of several.
type Config struct {
	Name  string // as peers.Named has it
	Lease time.Duration
	Link  peers.Link
	Count int // gateways that there are at least, as far as Divided is concerned
	Log   *slog.Logger
	Knobs *slo.Knobs
	// Weight is of a tenant's share of a busy replica; nil or below 1 is 1.
	Weight func(tenant string) int
	// Receipt returns a receipt that is kept here and whose it is, as JSON for its client or for operators.
	Receipt func(id string, forClient bool) (tenant string, text []byte, ok bool)
	// Judge counts a verdict on an answer of this gateway's that was given at another one; see Group.Judge.
	Judge func(j receipt.Judgement) (counted, found bool, refused string)
	// KeyOpen returns true if a request under a tenant's Idempotency-Key is being answered here.
	KeyOpen func(tenant, key string) bool

	// What other gateways tell: a verdict on a specialist, the specialist of a conversation, what a tenant has used.
	Judged func(specialist string, g slo.Given)
	Seated func(conversation uint64, specialist string, tokens int)
	Used   func(name string, u tenant.Used)
	// Routed is told which prompt another gateway has sent to a replica. Hashing is equal at gateways whose hashes of
	// blocks are: a hash of something by their seed.
	Routed  func(r *fleet.Replica, chain []kvpool.BlockHash)
	Hashing uint64
	// Divided is told into how many parts a rate is to be cut: when the store goes away, or is away at the start, as
	// many as there were gateways, or Count if that is more; and 1 once it is back.
	Divided func(parts int)
}

// Group is the gateways before the same replicas, as this one sees them. Safe for concurrent use.
type Group struct {
	cfg      Config
	replicas atomic.Pointer[replicas]
	life     uint64
	shares   *shares
	uses     atomic.Uint64 // of keys: see ClaimKey
	unshared atomic.Uint64 // of these, that the store was not told of
	telling  sync.Mutex    // held while replicas are told, before mu: what is told last is what is known last

	mu     sync.Mutex
	teller *peers.Teller // guarded by mu like all below
	roll   *peers.Roll
	knobs  *knobs
	asked  *asked
	news   *news
	hashes *rate.Limiter // of what was routed, that are told
	// lives of gateways whose hashes were found not to be comparable, by name
	foreign  map[string]uint64
	away     error     // why the store cannot be asked; nil while it can be
	told     time.Time // when replicas were told last
	measured time.Time // when it was told last how long first tokens took
	joined   time.Time // when the store could be asked first, or again
	lapsed   lapsed
	unheard  unheard
	sent     uint64
	bytes    uint64
	failed   uint64
}

// New returns a Group of which this gateway is the only one so far. It takes part from Run on.
func New(c Config) *Group {
	life := rand.Uint64() | 1
	g := &Group{cfg: c, life: life, joined: time.Now(), teller: peers.NewTeller(c.Name, life, c.Lease),
		roll: peers.NewRoll(c.Name, life), knobs: newKnobs(c.Name), asked: newAsked(), news: newNews(c.Hashing),
		hashes: rate.NewLimiter(hashesPerSecond, hashesPerSecond), foreign: map[string]uint64{},
		shares: newShares(c.Weight), unheard: unheard{work: map[uint64]peers.Work{}}}
	g.replicas.Store(new(replicas))
	if c.Knobs != nil {
		c.Knobs.OnChange(g.knobChanged)
	}
	return g
}

// Name returns the gateway's own.
func (g *Group) Name() string { return g.cfg.Name }

// Serve replaces the replicas. A replica that is new is told what the others have there.
func (g *Group) Serve(list []Replica) {
	g.telling.Lock()
	defer g.telling.Unlock()
	served := newReplicas(list)
	g.replicas.Store(served)
	g.shares.keep(served.at)
	g.tell(served, slices.Collect(maps.Keys(served.at)))
}

// Run takes part until ctx ends, and then leaves: from its last message on it counts nowhere. The name is claimed
// before, see peers.Link; where the store could not be asked, the link claims it when it can.
func (g *Group) Run(ctx context.Context) {
	g.mu.Lock()
	g.joined = time.Now()
	g.mu.Unlock()
	link, unlink := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		g.cfg.Link.Run(link, peers.Events{Message: g.hear, Away: g.Away})
	})
	contain.Every(ctx, Every, g.look)
	g.leave()
	unlink()
	running.Wait()
	g.alone()
}

// look tells what has changed here, and knobs again with what is whole. It forgets the gateways whose leases are over.
func (g *Group) look(now time.Time) {
	served := g.replicas.Load()
	work, firsts := served.gather(now), g.firsts(now)
	g.mu.Lock()
	gone := g.roll.Expire(now)
	g.lapsed.add(len(gone), now)
	changes := g.unheard.assume(g.roll.Peers(), served, work, g.changes(now))
	var again *peerspb.Message
	left := g.roll.Peers()
	if left > 0 {
		g.news.firsts = firsts
		if g.teller.Due(now) {
			again = g.knobs.again(now)
		}
	}
	message := g.teller.Tell(work, g.shares.write(g.news.write(g.knobs.news(), now), left, now), now)
	g.mu.Unlock()
	for _, name := range gone {
		g.cfg.Log.Warn("a gateway is gone: its lease is over, and what it had counts no more", "gateway", name,
			"gateways", left+1)
	}
	g.apply(changes)
	if message != nil {
		g.send("", message)
	}
	if again != nil {
		g.one("", again)
	}
}

// gather returns what this gateway has at each of the replicas at now.
func (s *replicas) gather(now time.Time) map[uint64]peers.Work {
	work := make(map[uint64]peers.Work, len(s.list))
	for i := range s.list {
		r := &s.list[i]
		w := ledgers.Work(r.Fleet, r.Gate.Own(), now)
		if had, twice := work[r.Key]; twice { // two specialists of one engine
			w = had.Add(w)
		}
		work[r.Key] = w
	}
	return work
}

// changes returns the replicas at which the others have more or less than at the last call. The caller holds mu.
func (g *Group) changes(now time.Time) []uint64 {
	g.told = now
	list := make([]uint64, 0, g.roll.Changed())
	g.roll.Changes(func(replica uint64, _ peers.Work) { list = append(list, replica) })
	return list
}

// apply tells the replicas of changes what the others have there by now, which may be newer than the change.
func (g *Group) apply(changes []uint64) {
	if len(changes) == 0 {
		return
	}
	g.telling.Lock()
	defer g.telling.Unlock()
	g.tell(g.replicas.Load(), changes)
}

// tell tells the replicas of keys what the others have there. The caller holds telling.
func (g *Group) tell(served *replicas, keys []uint64) {
	works := make([]peers.Work, len(keys))
	g.mu.Lock()
	for i, key := range keys {
		works[i] = g.roll.Beside(key).Add(g.unheard.work[key])
	}
	g.mu.Unlock()
	for i, key := range keys {
		for _, r := range served.at[key] {
			r.tell(works[i])
		}
	}
}

// hear takes a message in. Its gateway's lease counts from when it came, however long it waited since.
func (g *Group) hear(text []byte, came time.Time) {
	g.mu.Lock()
	heard, err := g.roll.Hear(text, came)
	var changes []uint64
	if came.Sub(g.told) >= tellEvery { // else the next look tells, or the next message
		changes = g.changes(came)
	}
	count := g.roll.Peers() + 1
	if heard.From != "" { // the store brings messages: what lapsed has died
		g.lapsed = lapsed{}
	}
	if heard.Joins {
		g.teller.Again()
	}
	g.mu.Unlock()
	if err != nil {
		g.cfg.Log.Debug("a message of another gateway is refused", "error", err)
		return
	}
	g.apply(changes)
	switch {
	case heard.Joins:
		g.cfg.Log.Info("a gateway has joined", "gateway", heard.From, "gateways", count)
		g.tellKnobs(heard.From)
	case heard.Left:
		g.cfg.Log.Info("a gateway has left", "gateway", heard.From, "gateways", count)
	}
	if heard.Body != nil {
		g.take(heard)
	}
}

// take takes in what a message tells beside work.
func (g *Group) take(heard peers.Heard) {
	m := heard.Body
	g.hearNews(heard)
	if len(m.GetKnobs()) > 0 {
		g.adopt(m.GetKnobs())
	}
	if q := m.GetQuestion(); q != nil {
		g.answer(heard.From, q)
	}
	if a := m.GetAnswer(); a != nil {
		g.answered(heard.From, a)
	}
}

// Away notes that the store cannot be asked, and why; with nil, that it can.
func (g *Group) Away(why error) {
	g.mu.Lock()
	was := g.away
	g.away = why
	var changes []uint64
	switch {
	case why == nil:
		g.joined = time.Now()
		g.teller.Again()
		changes = g.unheard.end()
		g.cfg.Divided(1)
	case was == nil:
		g.unheard.parts = max(g.cfg.Count, 1+g.roll.Peers()+g.lapsed.within(g.cfg.Lease, time.Now()))
		g.cfg.Divided(g.unheard.parts)
	}
	g.mu.Unlock()
	g.apply(changes) // before what the others tell is added to it
	switch {
	case errors.Is(why, peers.ErrTaken):
		g.cfg.Log.Error("another gateway has this one's name: give one of them another gateways.name", "name",
			g.cfg.Name)
	case why != nil && was == nil:
		g.cfg.Log.Warn("the store of gateways cannot be asked: this gateway goes on alone", "error", why)
	case why == nil && was != nil:
		g.cfg.Log.Info("the store of gateways is back")
	}
}
