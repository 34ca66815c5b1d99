package adapters

import (
	"cmp"
	"slices"
	"time"
)

// Placement decides where the adapters of one specialist are loaded. It is not safe for concurrent use.
type Placement struct {
	rules    Rules
	hosts    []*host             // by id
	editions []*edition          // in force and on their way as declared, then those that are retired
	served   map[string]*edition // by their names in the engines
	force    map[string]*edition // by adapter: what requests are sent to
	altered  bool                // force has changed since the Keeper looked
	moves    int                 // editions that came into force in place of others
	unloads  [Causes]uint64
	declared []Adapter
	// by adapter: the edition that had the adapter's own name in the engines. Another never gets it, for engines may
	// hold blocks that were computed under that name
	named map[string]Adapter
}

// Cause is why an adapter was unloaded.
type Cause int

// The causes.
const (
	ForRoom  Cause = iota // of another
	Unneeded              // its load is less
	Replaced              // by another edition, or declared no more
	Overfull              // its host has fewer slots than before

	Causes
)

// Action is a load or an unload that an engine is to be asked for.
type Action struct {
	Host uint16
	Load bool   // otherwise it is an unload
	Name string // of the edition, in the engine
	Path string
}

// NewPlacement returns a Placement without hosts and adapters.
func NewPlacement(r Rules) *Placement {
	return &Placement{rules: r.withDefaults(), served: map[string]*edition{}, force: map[string]*edition{},
		named: map[string]Adapter{}}
}

// Configure has the adapters that are declared be those of p. An adapter with another path or version than before gets
// a new edition. It comes into force once it is loaded, or at once where the one before is loaded nowhere.
func (p *Placement) Configure(r Rules, declared []Adapter, now time.Time) {
	p.rules, p.declared = r.withDefaults(), slices.Clone(declared)
	for _, e := range p.editions {
		if !slices.ContainsFunc(declared, e.is) && p.force[e.Name] != e || !p.declares(e.Name) {
			p.retire(e, now)
		}
	}
	for _, a := range declared {
		p.declare(a, now)
	}
	slices.SortStableFunc(p.editions, func(a, b *edition) int { return cmp.Compare(p.rank(a), p.rank(b)) })
	for _, h := range p.hosts {
		p.assume(h, now)
	}
	decision{p, now}.move()
}

func (p *Placement) declares(name string) bool {
	return slices.ContainsFunc(p.declared, func(a Adapter) bool { return a.Name == name })
}

// rank is the order of declaration.
func (p *Placement) rank(e *edition) int {
	if at := slices.IndexFunc(p.declared, e.is); at >= 0 {
		return at
	}
	return len(p.declared)
}

// declare notes one adapter: as an edition that is known, or as a new one.
func (p *Placement) declare(a Adapter, now time.Time) {
	at := slices.IndexFunc(p.editions, func(e *edition) bool { return e.is(a) })
	if at >= 0 {
		e := p.editions[at]
		e.Replicas = a.Replicas
		if e.retired {
			e.retired, e.since, e.ready = false, now, time.Time{}
		}
		return
	}
	e := &edition{Adapter: a, served: a.Name, since: now}
	if before := p.force[a.Name]; before != nil {
		e.use = before.use
	}
	if first, named := p.named[a.Name]; named && a.Path != "" && (first.Path != a.Path || first.Version != a.Version) {
		e.served = freshName(a)
	}
	if p.reclaim(e.served, a, now) {
		return
	}
	if old := p.served[e.served]; old != nil { // the engines have it by themselves: there is but one
		p.succeed(old, a)
		return
	}
	p.editions, p.served[e.served] = append(p.editions, e), e
	if e.served == a.Name {
		p.named[a.Name] = a
	}
	if p.force[a.Name] == nil {
		p.force[a.Name], p.altered = e, true
	}
}

// succeed makes an edition another one under the same name: what engines have loaded by themselves under it is new.
func (p *Placement) succeed(e *edition, a Adapter) {
	e.Adapter = a
	if e.retired || p.force[a.Name] == e {
		p.moves++
	}
	e.retired = false
	p.force[a.Name], p.altered = e, true
}

// retire has no request sent to e any more, and no claim wait for it where it is not loaded.
func (p *Placement) retire(e *edition, now time.Time) {
	if e.retired {
		return
	}
	e.retired, e.since, e.extra = true, now, 0
	if p.force[e.Name] == e {
		delete(p.force, e.Name)
		p.altered = true
	}
	for _, h := range p.hosts {
		if c := h.at(e); c != nil {
			c.purpose = none
			if c.state != loaded && c.state != loading {
				c.deny(&Refusal{Adapter: e.Name, Reason: ErrReplaced})
			}
		}
	}
}

// move brings editions into force that are loaded where those before them are.
func (d decision) move() {
	for _, e := range d.editions {
		old := d.force[e.Name]
		if e.retired || old == e {
			continue
		}
		if d.mayMove(e, old) {
			d.moves++
			d.force[e.Name], d.altered = e, true
			if old != nil {
				d.retire(old, d.now)
			}
		}
	}
}

// mayMove reports whether a new edition may take the place of old: the engines have it by themselves, old is nowhere,
// or the new one is on as many hosts, or on one for long enough.
func (d decision) mayMove(e, old *edition) bool {
	if old == nil || e.Path == "" {
		return true
	}
	if e.loaded > 0 {
		return e.loaded >= old.loaded || d.now.Sub(e.ready) >= d.rules.Linger
	}
	return old.loaded == 0 && old.claims == 0
}

// HostUp adds a host, or changes its terms.
func (p *Placement) HostUp(id uint16, t HostTerms, now time.Time) {
	h := p.host(id)
	if h == nil {
		h = &host{id: id, up: true}
		at, _ := slices.BinarySearchFunc(p.hosts, id, func(h *host, id uint16) int { return cmp.Compare(h.id, id) })
		p.hosts = slices.Insert(p.hosts, at, h)
	}
	if h.HostTerms != t {
		h.HostTerms, h.able = t, t.Loads
	}
	h.refill(&p.rules, now)
	p.assume(h, now)
}

// assume has h hold what its engine is taken to have by itself: adapters without a path, and all where it neither loads
// nor lists any. Of an engine that loads and lists them that holds until it has done so; of one that only lists them it
// never does, for requests need what it lists.
func (p *Placement) assume(h *host, now time.Time) {
	for _, e := range p.editions {
		if e.retired || e.Path != "" && (h.Loads || h.Lists) || h.Lists && (h.seen || !h.Loads) {
			continue
		}
		if c := h.place(e); c.state == absent {
			c.become(loaded, now)
			c.grant()
		}
	}
}

// HostGone drops a host. Claims that wait there are refused; those that are held stay valid until their release.
func (p *Placement) HostGone(id uint16, now time.Time) {
	h := p.host(id)
	if h == nil {
		return
	}
	p.hosts = slices.DeleteFunc(p.hosts, func(o *host) bool { return o == h })
	for _, c := range h.copies {
		c.become(absent, now)
		c.deny(&Refusal{Adapter: c.e.Name, Reason: ErrGone})
	}
	h.copies, h.up = nil, false
}

// Down notes that the engine of a host does not answer. What it has is looked at anew once it does.
func (p *Placement) Down(id uint16, now time.Time) {
	h := p.host(id)
	if h == nil || !h.up {
		return
	}
	h.up, h.seen = false, false
	for _, c := range h.copies {
		if c.state == loaded || c.state == leaving {
			c.become(doubtful, now)
		}
		c.deny(&Refusal{Adapter: c.e.Name, Reason: ErrGone})
	}
}

// host returns a host by its id; nil if the Placement has no such host.
func (p *Placement) host(id uint16) *host {
	at, found := slices.BinarySearchFunc(p.hosts, id, func(h *host, id uint16) int { return cmp.Compare(h.id, id) })
	if !found {
		return nil
	}
	return p.hosts[at]
}

// InForce returns the edition of an adapter that requests are sent to, and its name in the engines; false if no such
// adapter is declared.
func (p *Placement) InForce(adapter string) (a Adapter, served string, known bool) {
	e := p.force[adapter]
	if e == nil {
		return Adapter{}, "", false
	}
	return e.Adapter, e.served, true
}

// inForce returns the names of the editions in force, by adapter.
func (p *Placement) inForce() map[string]string {
	all := make(map[string]string, len(p.force))
	for name, e := range p.force {
		all[name] = e.served
	}
	return all
}

// changes calls tell for each host whose loaded adapters have changed since the last call, with their names.
func (p *Placement) changes(tell func(host uint16, served []string)) {
	for _, h := range p.hosts {
		if !h.stale {
			continue
		}
		h.stale = false
		var names []string
		for _, c := range h.copies {
			if c.state == loaded {
				names = append(names, c.e.served)
			}
		}
		tell(h.id, names)
	}
}

// unseen reports whether a host has yet to tell which adapters it has.
func (p *Placement) unseen(id uint16) bool {
	h := p.host(id)
	return h != nil && h.up && h.unseen()
}

// Moves counts the editions that have come into force in place of others.
func (p *Placement) Moves() int { return p.moves }
