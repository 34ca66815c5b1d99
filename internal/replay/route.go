package replay

import (
	"context"
	"errors"
	"time"

	"octet/kvpool"
	"octet/routing"
	"octet/routing/fleet"
	"octet/routing/plugins"
	"octet/scheduler"
	"octet/scheduler/core"
)

// arrive routes request i and gives it to the replica that was picked.
func (r *run) arrive(i int) {
	l := &r.lives[i]
	r.prompt = r.trace.AppendPrompt(make([]uint32, 0, l.Input), i, r.config.Seed)
	c := routing.Acquire(routing.Facts{Specialist: specialist, Session: l.Session, Kind: "completion", Stream: true,
		Now: r.clock()})
	defer c.Release()
	c.Candidates(r.snapshot.Hosts)
	plugins.Fleet.Put(c, r.snapshot)
	start := time.Now()
	d, err := r.profile.Select(context.Background(), c)
	r.out.took(time.Since(start))
	var nobody *routing.NoCandidateError
	switch {
	case errors.As(err, &nobody):
		r.refuse(l)
		return
	case err != nil:
		r.out.fault = err
		return
	}
	rep := r.replicas[d.Ranked[0].Host]
	r.send(rep, i, c.View())
}

// send does what a gateway does with a decision, and what its engine does with the request.
func (r *run) send(rep *replica, i int, v routing.View) {
	l := &r.lives[i]
	chain := plugins.BlockHashes.Get(v)
	held := 0
	if depths := plugins.Depths.Get(v); depths != nil {
		held = int(depths[rep.host])
	}
	// an engine computes at least the last token
	l.predicted = min(held, (l.Input-1)/r.config.BlockSize) * r.config.BlockSize
	tokens := r.prompt
	if r.shared != nil {
		l.cached = r.shared.cached(chain, l.Input)
		tokens = tokens[l.cached:]
		r.shared.expect(l, chain)
	}
	_, err := rep.core.Add(core.Request{
		ID: uint64(i), Tokens: tokens, Root: r.root(i), Arrival: r.now, MaxNew: l.Output,
	}, r.now)
	switch {
	case errors.Is(err, scheduler.ErrRefused):
		r.refuse(l)
		return
	case err != nil:
		r.out.fault = err
		return
	}
	r.beliefs.Routed(rep.host, chain, r.clock())
	demand := fleet.Demand{Prompt: l.Input, Uncached: l.Input - held*r.config.BlockSize}
	rep.member.Start(&l.flight, demand, r.clock())
	if rep.due == never {
		rep.start(&r.config.Timing, r.now)
		r.publish(rep)
	}
	rep.reports.note(r.now, rep.load)
}

// root keeps the truncated prompts of an endless cache apart from each other.
func (r *run) root(i int) kvpool.BlockHash {
	if r.shared != nil {
		return kvpool.BlockHash(i)
	}
	return r.hasher.Root(specialist, "", "")
}
