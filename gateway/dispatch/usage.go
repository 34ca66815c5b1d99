package dispatch

import (
	"errors"
	"strings"

	"octet/gateway/apierr"
	"octet/gateway/ensemble"
)

// doWithoutUsage reports whether the replica is to be asked again without the usage, which its client did not ask for:
// its engine refuses the request, and may do so for that. It is found out once a replica: what it takes then, takenUp
// notes.
func (a attempt) doWithoutUsage(err error) bool {
	t := &a.turn
	var said *apierr.Error
	if !t.hop.AsksUsage || a.Relay.Begun() || !errors.As(err, &said) || said.Code != apierr.InvalidRequest {
		return false
	}
	if t.rep.Usage.Load() != ensemble.UsageUntried && !strings.Contains(said.EngineText, "stream_options") {
		return false
	}
	t.noUsage = true
	return true
}

// takenUp notes what requests the replica's engine takes, as it has taken this one: whether they may ask for the
// usage, and come by a door.
func (a attempt) takenUp() {
	t := &a.turn
	if t.chats {
		t.rep.ServesNot(a.Request.Door.Served())
	}
	switch {
	case !a.Request.Stream:
	case t.noUsage:
		t.rep.Usage.Store(ensemble.UsageRefused)
	case t.hop.AsksUsage && t.rep.Usage.Load() == ensemble.UsageUntried:
		t.rep.Usage.Store(ensemble.UsageTold)
	}
}
