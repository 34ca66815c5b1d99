// Package ledgers is between what gateways tell each other and the two ledgers of a replica that it goes by: the
// fleet's, which scores, and the Gate's, which admits.
//
//	fleet.Own, gate.Own ──▶ Work ──▶ other gateways ──▶ Beside ──▶ fleet.Beside, gate.Beside
package ledgers

import (
	"time"

	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/scheduler/gate"
	"octet/slo"
)

// Work returns what this gateway has at a replica at now, of which its Gate says held.
func Work(replica *fleet.Replica, held gate.Own, now time.Time) peers.Work {
	own := replica.Own()
	w := peers.Work{Running: max(held.Sequences, own.Running), Waiting: max(own.Waiting, held.Waiting),
		Backlog: own.Backlog, Left: min(replica.Remaining(now), own.Backlog), Tokens: own.Tokens, Blocks: held.Blocks,
		Answer: held.Answer}
	switch {
	case held.Waiting > 0:
		w.Urgent, w.Tenant, w.Had = held.Urgent, held.Tenant, held.Had
	case w.Waiting > 0: // on its way to the Gate
		w.Urgent = slo.LeastPriority
	}
	return w
}

// Beside returns what others have at a replica as its ledgers take it.
func Beside(w peers.Work) (fleet.Beside, gate.Beside) {
	return fleet.Beside{Running: w.Running, Waiting: w.Waiting, Backlog: w.Backlog, Left: w.Left, Tokens: w.Tokens},
		gate.Beside{Sequences: w.Running, Blocks: w.Blocks, Backlog: w.Backlog, Waits: w.Waiting > 0, Urgent: w.Urgent,
			Tenant: w.Tenant, Had: w.Had, Answer: w.Answer}
}

// Unheard returns what n gateways are taken to have at a replica that are not heard, where this one has w: as much
// each. None of their requests waits: a place in a queue is not kept for what may not be there.
func Unheard(w peers.Work, n int) peers.Work {
	if n <= 0 || w.Idle() {
		return peers.Work{}
	}
	return peers.Work{Running: w.Running * n, Backlog: w.Backlog * n, Left: w.Left * n, Tokens: w.Tokens * n,
		Blocks: w.Blocks * n, Answer: w.Answer}
}
