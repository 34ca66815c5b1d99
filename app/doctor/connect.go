package doctor

import (
	"context"
	"errors"
	"time"

	"octet/gateway/api"
)

// connectFor bounds what one replica is asked when it is connected, and connectsFor how long its own event socket may
// take: a publisher that has just started, or that dials itself, needs a second or two.
const (
	connectFor  = 20 * time.Second
	connectsFor = 10 * time.Second
)

// errUnmet is an event socket to which a gateway has no connection.
var errUnmet = errors.New("no connection to it stands")

// Questions returns what is found of a replica without a request: what a gateway logs when the replica is connected.
// It returns false if the engine did not answer, or not in time: then nothing is known.
func Questions(ctx context.Context, s *Subject) (found []api.Finding, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	f, client := Ask(ctx, s)
	defer closeClient(client)
	if f.Reach != nil || f.Standing.Asleep || f.Standing.Loading {
		return nil, false
	}
	f.Why = "not asked at connect"
	if f.Met = s.meets(ctx); !f.Met && s.Known != nil && s.Known.Connected != nil {
		f.Source, f.HearErr = s.Replica.Events.ZMQ, errUnmet
	}
	if ctx.Err() != nil {
		return nil, false
	}
	for i := range Checks {
		if v := Checks[i].Look(f); Checks[i].AtConnect && (v.Status == Warn || v.Status == Fail) {
			found = append(found, finding(Checks[i].Name, s.Replica.Name, v))
		}
	}
	return found, true
}

// met returns true if the gateway is connected to the replica's own socket.
func (s *Subject) met() bool {
	return s.Known != nil && s.Known.Connected != nil && s.Known.Connected()
}

// meets waits until met, for connectsFor at most.
func (s *Subject) meets(ctx context.Context) bool {
	if s.Known == nil || s.Known.Connected == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, connectsFor)
	defer cancel()
	tick := time.NewTicker(hearEvery)
	defer tick.Stop()
	for !s.met() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}
