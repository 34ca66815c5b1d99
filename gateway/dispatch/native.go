package dispatch

import (
	"net/http"

	"octet/gateway/doors"
	"octet/gateway/ensemble"
	"octet/gateway/upstream"
)

// Native reports whether the replica whose turn it is answers in the words of the client's door.
func (d *Dispatch) Native() bool { return d.turn.native != nil }

// native makes hop a request by the client's door, and returns true, if the replica serves it. What steps hand over to
// each other has chat completions for its words.
func (a attempt) native(hop *ensemble.Hop) bool {
	t := &a.turn
	if a.Request.Door == nil || !a.steps.single || t.chats {
		return false
	}
	reads := doors.NativeOf(a.Request.Answer)
	if reads == nil || !upstream.Native(hop, a.Request, a.Plan.Adapter) {
		return false
	}
	t.native = reads
	return true
}

// doWithoutDoor reports whether the replica is to be asked again for a chat completion: its engine knows no such path
// or method, though it was told to serve the door. It may know no such model: what it takes then, takenUp notes.
func (a attempt) doWithoutDoor(err error) bool {
	t := &a.turn
	if err == nil || t.native == nil || t.resp == nil || a.Relay.Begun() {
		return false
	}
	switch t.resp.Status() {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		t.chats = true
		return true
	}
	return false
}
