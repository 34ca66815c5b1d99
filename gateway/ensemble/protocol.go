package ensemble

import (
	"time"

	"octet/engine"
	"octet/gateway/wire"
	"octet/routing"
)

// Protocol is how the steps of one request's plan work together over HTTP: what each step is sent, and what later steps
// get of its answer. It is made for one request and used by one goroutine at a time. A new pattern of execution is a
// Workflow with a Protocol; the handlers stay as they are.
type Protocol interface {
	// Request changes what a step sends to h.Replica, for each attempt anew. ErrNotTried ends the attempt before
	// anything is asked: this replica has no part in the step.
	Request(h *Hop) error
	// Answer takes the whole answer of a step before the last; body is valid during the call.
	Answer(h *Hop, body []byte) error
	// Events returns what the client gets for whole events of the last step's stream; valid until the next call.
	Events(events []byte) []byte
	// Forget drops what earlier steps handed over, and returns true if there was anything: the last step is then sent
	// again without it.
	Forget() bool
}

// Hop is one step's dispatch to one replica.
type Hop struct {
	Step      routing.Step
	Last      bool // its answer is the client's
	Replica   *Replica
	Answerer  *Replica      // the first in rank for the last step
	Client    *wire.Request // what the client sent; read-only
	Kind      wire.Kind
	RequestID string

	// What Request may change.
	Path    string
	Stream  bool
	Edits   []wire.Edit    // members of the client's body that are set
	Fields  []engine.Field // header fields for the engine
	Body    []byte         // sent in place of the client's body, unless nil
	Native  bool           // Edits are of the body as the client sent it, in the words of its door
	NoPlace bool           // the step computes no KV: it needs no place in the replica's batch
	Beside  bool           // sent together with the last step and not waited for: the engines find each other
	Accept  time.Duration  // Beside: how long the last step waits until the engine takes it
	// nothing is sent: the last step's engine asks in its own time; the place is held as with Hold
	Unasked bool
	Handed  bool // the last step's engine takes a prompt that it has not computed
	// the usage is not to be asked for where an engine may refuse to be, and whether it is asked for so
	NoUsage, AsksUsage bool

	firstField [1]engine.Field // memory of Fields
	firstEdits [3]wire.Edit    // memory of Edits

	// What Answer may set.
	Hold         bool // the replica keeps the prompt's blocks until the last step's first token
	PromptTokens int  // the prompt's exact length; zero if unknown
}

// AddField adds a header field for the engine.
func (h *Hop) AddField(name, value string) {
	if h.Fields == nil {
		h.Fields = h.firstField[:0]
	}
	h.Fields = append(h.Fields, engine.Field{Name: name, Value: value})
}

// SetField adds a header field for the engine, in place of the one that there is of that name.
func (h *Hop) SetField(name, value string) {
	for i := range h.Fields {
		if h.Fields[i].Name == name {
			h.Fields[i].Value = value
			return
		}
	}
	h.AddField(name, value)
}

// NoEdits returns an empty list with memory of its own, to append Edits to.
func (h *Hop) NoEdits() []wire.Edit { return h.firstEdits[:0] }

// Plain is the Protocol of plans whose steps share nothing.
type Plain struct{}

// Request changes nothing.
func (Plain) Request(*Hop) error { return nil }

// Answer keeps nothing.
func (Plain) Answer(*Hop, []byte) error { return nil }

// Events returns events.
func (Plain) Events(events []byte) []byte { return events }

// Forget returns false.
func (Plain) Forget() bool { return false }
