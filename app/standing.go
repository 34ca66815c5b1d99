package app

import (
	"context"
	"time"

	"octet/engine/openai"
	"octet/routing/fleet"
)

// stands notes whether a healthy engine serves, as it says itself.
func (p prober) stands(ctx context.Context, member *fleet.Replica, r *replica) {
	said, err := r.client.Standing(ctx, r.key.model)
	if err != nil {
		return // the next probe asks again
	}
	if member.Said() == fleet.Asleep && !r.client.TellsSleep() {
		return // it was put to sleep from here, and is woken from here
	}
	p.noteStanding(member, r, standingOf(said))
}

// saysWithin is how long a request waits for its engine to say whether it sleeps.
const saysWithin = time.Second

// fellAsleep asks an engine that has refused a request whether it sleeps: it may have been put to sleep since its last
// probe, and not from here.
func (p prober) fellAsleep(ctx context.Context, r *replica) bool {
	member, present := p.app.replicas.fleet.Find(r.key.name)
	if !present || !r.client.TellsSleep() {
		return false
	}
	if member.Said() != fleet.Asleep {
		ctx, cancel := context.WithTimeout(ctx, saysWithin)
		defer cancel()
		p.stands(ctx, member, r)
	}
	return member.Said() == fleet.Asleep
}

// noteStanding notes what an engine says of itself. One that sleeps has lost its prefix cache.
func (p prober) noteStanding(member *fleet.Replica, r *replica, now fleet.Standing) {
	if member.Says(now) != fleet.Asleep && now == fleet.Asleep {
		p.app.fabric.Empty(r.key.name, r.served.Host)
		r.served.Gate.Cleared()
	}
}

// standing returns what a new replica's engine says of itself; fleet.Serving if it does not say, or not in time.
func standing(ctx context.Context, r *replica) fleet.Standing {
	said, err := r.client.Standing(ctx, r.key.model)
	if openai.IsLoading(err) {
		return fleet.Loading
	}
	if err != nil {
		return fleet.Serving
	}
	return standingOf(said)
}

func standingOf(said openai.Standing) fleet.Standing {
	switch {
	case said.Asleep:
		return fleet.Asleep
	case said.Loading:
		return fleet.Loading
	case said.Absent:
		return fleet.NoModel
	}
	return fleet.Serving
}
