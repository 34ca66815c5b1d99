package belief

import (
	"slices"
	"sync/atomic"
	"time"

	"octet/kvpool"
	"octet/routing/index"
)

// partial is whether a replica is partly known.
type partial struct {
	on       atomic.Bool
	followed bool          // on and the life of guesses are as the last batch left them; its batches' alone
	guessFor time.Duration // what a guess lasts while nothing better is known
	// Hits have ended the doubt that missing batches left, in this life; and hits have brought it back.
	proven, again atomic.Bool
}

func (p *partial) begin(ttl time.Duration) {
	p.on.Store(false)
	p.settle()
	p.followed, p.guessFor = false, ttl
}

// settle ends what hits have said: something better says whether the replica is partly known.
func (p *partial) settle() {
	p.proven.Store(false)
	p.again.Store(false)
}

// follow notes whether a replica that publishes is partly known. Guesses of it last long as long as it is.
func (b *Beliefs) follow(id index.HostID, partly bool) {
	p := &b.partial[id]
	partly = partly || p.again.Load()
	if p.followed && p.on.Load() == partly {
		return
	}
	p.followed = true
	p.on.Store(partly)
	b.denied.Clear(id)
	switch {
	case b.saltless.Load().Has(id): // all of it is guessed, as ever
	case partly:
		b.Guesses.Last(id, max(p.guessFor, b.TTL))
	default:
		b.Guesses.Last(id, b.TTL)
	}
}

// forgets returns true if batch comes after some that are lost: all that was known may be so still.
func forgets(batch *index.Batch) bool {
	return len(batch.Ops) > 0 && batch.Ops[0].Kind == index.Forget
}

// demote makes guesses of what a batch takes out of the index without knowing that it is gone. What hits proved before
// is proved no more.
func (b *Beliefs) demote(batch *index.Batch) {
	id := batch.Host
	if int(id) >= index.MaxHosts {
		return
	}
	p := &b.partial[id]
	if p.proven.Load() && (b.another(batch) || forgets(batch) || emptied(batch)) {
		p.settle()
	}
	if !forgets(batch) {
		if p.on.Load() && b.another(batch) {
			b.Guesses.Forget(id) // they were of a life that is over
		}
		return
	}
	b.hits[id].renew()
	b.follow(id, true)
	if !b.saltless.Load().Has(id) {
		b.Guesses.Suppose(id, batch.Ops[0].Blocks, b.now())
	}
}

// emptied returns true if batch tells that the cache is empty.
func emptied(batch *index.Batch) bool {
	for i := range batch.Ops {
		if empties(batch.Ops[i].Kind) {
			return true
		}
	}
	return false
}

// Partly returns true if batches of the replica's life are missing, and nothing says that they do not matter.
func (b *Beliefs) Partly(id index.HostID) bool {
	return b.Index.Stale().Has(id) || b.partial[id].on.Load()
}

// promote ends the doubt about a replica once delivered hits say so.
func (b *Beliefs) promote(batch *index.Batch) {
	id := batch.Host
	if int(id) >= index.MaxHosts || !b.partial[id].on.Load() || forgets(batch) || b.another(batch) {
		return
	}
	if p := &b.partial[id]; b.hits[id].proven() {
		p.again.Store(false)
		p.proven.Store(true)
		batch.Ops = append(slices.Clip(batch.Ops), index.Op{Kind: index.Fresh})
	}
}

// hear has the guesses follow a batch. Of a partly known replica they are what was routed and what was stored since: an
// unknown block may be before a known one.
func (b *Beliefs) hear(batch *index.Batch) {
	if !b.partial[batch.Host].on.Load() {
		b.Guesses.Heard(*batch)
		return
	}
	for i := range batch.Ops {
		if op := &batch.Ops[i]; op.Kind == index.Store {
			b.Guesses.Suppose(batch.Host, op.Blocks, b.now())
		} else {
			b.Guesses.Heard(index.Batch{Host: batch.Host, Ops: batch.Ops[i : i+1]})
		}
	}
}

// Foretell returns how many of the leading blocks of chain a replica's events tell of, and how many it holds with what
// is guessed: believed, unless the replica is partly known. Of a replica whose events are complete all that is believed
// counts as known.
func (b *Beliefs) Foretell(chain []kvpool.BlockHash, id index.HostID, believed int) (known, all int) {
	switch {
	case !b.Heard(id) || b.Guessed().Has(id):
		return 0, believed
	case !b.partial[id].on.Load():
		return believed, believed
	}
	var out [index.MaxHosts]uint16
	b.Index.Depths(chain, index.HostSet(id), &out)
	known = int(out[id])
	b.Guesses.Extend(chain, index.HostSet(id), b.now(), &out)
	return known, int(out[id])
}

// Delivered notes how many tokens of a prompt an engine had in its cache, of which its events had told of known, and
// all were believed to be there.
func (b *Beliefs) Delivered(id index.HostID, known, all, delivered int) {
	if int(id) >= index.MaxHosts {
		return
	}
	h := &b.hits[id]
	h.note(float64(known), float64(all), float64(delivered))
	p := &b.partial[id]
	if p.proven.Load() && h.refuted() {
		p.again.Store(true)
	}
	if !p.on.Load() {
		return
	}
	switch {
	case h.deny():
		b.denied.Set(id)
	case h.confirm():
		b.denied.Clear(id)
	}
}

// Known returns which part of the tokens that a replica delivered from its cache, lately, its events had told of; false
// if it has delivered none.
func (b *Beliefs) Known(id index.HostID) (share float64, ok bool) {
	if int(id) >= index.MaxHosts {
		return 0, false
	}
	return b.hits[id].share()
}

// Guessing returns which part of the tokens that were guessed of a replica, lately, beyond those that its events tell
// of, it delivered; false if there were none.
func (b *Beliefs) Guessing(id index.HostID) (share float64, ok bool) {
	if int(id) >= index.MaxHosts {
		return 0, false
	}
	return b.hits[id].guessed()
}
