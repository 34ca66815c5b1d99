package upstream

import (
	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/wire"
)

// Native makes h a request in the words of the door that the client came by, and returns true: its body as it was sent,
// but for what the gateway sets. It returns false, and leaves h, if the replica's engine does not serve the door, or
// does not take there what is to be set, would pass over what the client says, or would show its model what is no part
// of the prompt.
func Native(h *ensemble.Hop, r *intake.Request, adapter string) bool {
	if r.Door == nil || r.Sent() == nil || r.Parsed.HasExtras() {
		return false
	}
	door := r.Door.Served()
	served := h.Replica.Kind.Served
	if !h.Replica.Serves(door) {
		return false
	}
	if misread(r, &served, door) {
		return false
	}
	set := edits(h.Replica, r, adapter, nil)
	for _, e := range set {
		if e.Key == saltKey && served.Salted&door == 0 || e.Key == priorityKey && served.Ranked&door == 0 {
			return false
		}
	}
	if door == engine.Responses {
		set = append(set, wire.Edit{Key: "store", Raw: []byte("false")}) // which would be true
	}
	engine.DoorPaths(door, func(_ engine.Doors, path string) { h.Path = path })
	h.Native, h.Edits = true, set
	return true
}

// misread reports whether an engine's own door would pass over what the client says, or show its model what is no part
// of the prompt.
func misread(r *intake.Request, served *engine.Served, door engine.Doors) bool {
	if a, is := r.Answer.(interface{ Billed() bool }); is && a.Billed() && served.Unbilled&door == 0 {
		return true
	}
	a, is := r.Answer.(interface{ Particular() bool })
	return is && a.Particular() && served.Partial&door != 0
}
