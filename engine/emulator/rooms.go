package emulator

import (
	"context"
	"net"
	"net/http"
	"strconv"
)

// The parts of a pair of engines that meet for each request, as SGLang's do: the same request goes to both, and names a
// room in which the one that prefills hands the prompt to the one that decodes.
const (
	ModePrefill = "prefill"
	ModeDecode  = "decode"
)

// meeting is where the two engines of a request find each other.
type meeting struct {
	Host string `json:"bootstrap_host"`
	Port int    `json:"bootstrap_port"`
	Room *int64 `json:"bootstrap_room"`
}

func (m *meeting) key() string { return "room-" + strconv.FormatInt(*m.Room, 10) }

// fetches reports whether a's prompt comes from the engine that computed it.
func (e *Emulator) fetches(a *ask) bool {
	return a.body.Transfer.fetches() || e.cfg.Mode == ModeDecode && a.body.Room != nil
}

// keeps reports whether a's prompt is computed for another engine.
func (e *Emulator) keeps(a *ask) bool {
	return a.body.Transfer.keeps() || e.cfg.Mode == ModePrefill && a.body.Room != nil
}

// checkRoom refuses what one of a pair cannot do alone.
func (e *Emulator) checkRoom(a *ask) error {
	if e.cfg.Mode != "" && a.body.Room == nil {
		return badRequest("bootstrap_room", "Disaggregated request received without bootstrap room id.")
	}
	if e.cfg.Mode == ModePrefill {
		for i := range a.maxNew {
			a.maxNew[i] = 1
		}
	}
	return nil
}

// handInRoom gives an answer's prompt to the engine that comes to its room, and returns when it was fetched.
func (an *answer) handInRoom(ctx context.Context) error {
	a, e := an.ask, an.e
	if e.cfg.Mode != ModePrefill || a.body.Room == nil {
		return nil
	}
	p, blocks := an.transfer()
	key := a.body.key()
	if p == nil || !e.exports.put(key, p, len(blocks)) {
		return transferProblem("room %d is taken, or there is no place for its blocks", *a.body.Room)
	}
	e.exports.awaitGone(ctx, key)
	return nil
}

// meet lets the engine that decodes wait for its prompt.
func (h handlers) meet(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), fetchTimeout)
	defer cancel()
	defer context.AfterFunc(h.life, cancel)()
	key := "room-" + r.PathValue("room")
	p := h.exports.await(ctx, key)
	if p == nil {
		writeProblem(w, notFound("", "No engine came to room %q.", r.PathValue("room")))
		return
	}
	writeJSON(w, http.StatusOK, mustJSON(p))
	h.exports.drop(key)
}

// source is where a's prompt is to be fetched.
func (a *ask) source() string {
	if t := a.body.Transfer; t.fetches() {
		return "http://" + net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) + "/kv_transfer/" + t.Request
	}
	m := a.body.meeting
	return "http://" + net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) + "/kv_rooms/" + strconv.FormatInt(*m.Room, 10)
}
