package emulator

import (
	"context"
	"net"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
)

// The parts of a pair of engines that meet for each request, as SGLang's do: the same request goes to both, and names a
// room in which the one that prefills hands the prompt to the one that decodes.
const (
	ModePrefill = "prefill"
	ModeDecode  = "decode"
)

// meeting is where the two engines of a request find each other: each of its prompts has a room of its own.
type meeting struct {
	Host perPrompt[string] `json:"bootstrap_host"`
	Port perPrompt[int]    `json:"bootstrap_port"`
	Room perPrompt[int64]  `json:"bootstrap_room"`
}

// room is that of a prompt: where one number is given for several, the first one's, and the next ones follow.
func (m *meeting) room(prompt int) int64 {
	if m.Room.listed {
		return m.Room.of(prompt)
	}
	return m.Room.of(prompt) + int64(prompt)
}

func (m *meeting) key(prompt int) string { return "room-" + strconv.FormatInt(m.room(prompt), 10) }

// perPrompt is a member of a body: one value for all prompts, or a list of one for each.
type perPrompt[T any] struct {
	values []T // nil if the body does not have it
	listed bool
}

// UnmarshalJSON reads either.
func (p *perPrompt[T]) UnmarshalJSON(raw []byte) error {
	*p = perPrompt[T]{}
	switch {
	case string(raw) == "null":
		return nil
	case raw[0] == '[':
		p.listed = true
		return json.Unmarshal(raw, &p.values)
	}
	p.values = make([]T, 1)
	return json.Unmarshal(raw, &p.values[0])
}

func (p *perPrompt[T]) given() bool { return p.values != nil }

// of returns the value for a prompt; the zero value if the body does not have it.
func (p *perPrompt[T]) of(prompt int) (value T) {
	if !p.listed {
		prompt = 0
	}
	if prompt < len(p.values) {
		value = p.values[prompt]
	}
	return value
}

// fetches reports whether a's prompts come from the engine that computed them.
func (e *Emulator) fetches(a *ask) bool {
	return a.body.Transfer.fetches() || e.cfg.Mode == ModeDecode && a.body.Room.given()
}

// keeps reports whether a's prompts are computed for another engine.
func (e *Emulator) keeps(a *ask) bool {
	return a.body.Transfer.keeps() || e.cfg.Mode == ModePrefill && a.body.Room.given()
}

// checkRoom refuses what one of a pair cannot do alone.
func (e *Emulator) checkRoom(a *ask) error {
	room := &a.body.Room
	switch {
	case e.cfg.Mode == "":
		return nil
	case !room.given():
		return badRequest("bootstrap_room", "Disaggregated request received without bootstrap room id.")
	case room.listed && len(room.values) != len(a.prompts):
		return badRequest("bootstrap_room", "%d rooms for %d prompts", len(room.values), len(a.prompts))
	}
	if e.cfg.Mode == ModePrefill {
		for i := range a.maxNew {
			a.maxNew[i] = 1
		}
	}
	return nil
}

// handInRooms gives an answer's prompts to the engine that comes to their rooms, and returns when all were fetched.
func (an *answer) handInRooms(ctx context.Context) error {
	a, e := an.ask, an.e
	if e.cfg.Mode != ModePrefill || !a.body.Room.given() {
		return nil
	}
	for i := range a.prompts {
		key := a.body.key(i)
		p, blocks := an.transfer(i)
		if p == nil || !e.exports.put(key, p, len(blocks)) {
			return transferProblem("room %d is taken, or there is no place for its blocks", a.body.room(i))
		}
		defer e.exports.drop(key)
	}
	for i := range a.prompts {
		e.exports.awaitGone(ctx, a.body.key(i))
	}
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

// source is where a prompt of a's is to be fetched.
func (a *ask) source(prompt int) string {
	if t := a.body.Transfer; t.fetches() {
		return "http://" + net.JoinHostPort(t.Host, strconv.Itoa(t.Port)) + "/kv_transfer/" + t.Request
	}
	m := &a.body.meeting
	return "http://" + net.JoinHostPort(m.Host.of(prompt), strconv.Itoa(m.Port.of(prompt))) + "/kv_rooms/" +
		strconv.FormatInt(m.room(prompt), 10)
}
