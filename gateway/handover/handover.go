package handover

import (
	"encoding/json"
	"fmt"
	"time"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
)

// The steps of a handover, by their names in a plan.
const (
	Preprocess = "preprocess" // computes the prompt's token ids
	Prefill    = "prefill"    // computes the prompt's keys and values
	Decode     = "decode"     // generates the answer
)

// Protocol is the state of one request's handover. It implements ensemble.Protocol.
type Protocol struct {
	Room func() int64 // returns the id of a new SGLang meeting: unique, not negative
	// Accept is how long the decode waits at most, before it is sent, until the prefill's engine has accepted its
	// request; zero means that both are sent at once. It cannot wait for the prefill's end: engines that meet finish
	// together.
	Accept time.Duration

	tokens []byte   // the prompt's token ids as a raw JSON list; nil if they are not known
	params []byte   // vLLM's kv_transfer_params for the decode, raw; nil if there are none
	meet   *meeting // nil: no engines meet
	ask    string   // host:port of the prefilling engine, for a sidecar; "" without one
}

// Request makes h what its step sends to its replica, or returns routing.ErrNotTried if the replica cannot take part.
func (p *Protocol) Request(h *ensemble.Hop) error {
	switch h.Step.Name {
	case Preprocess:
		return p.tokenize(h)
	case Prefill:
		return p.prefill(h)
	}
	p.useTokens(h)
	switch {
	case p.ask != "" && h.Replica.PrefillHeader:
		h.Fields = append(h.Fields, engine.Field{Name: prefillerHeader, Value: p.ask})
		h.Handed = true
	case p.params != nil && h.Replica.Kind.Transfer == engine.TransfersByPull:
		h.Edits = append(h.Edits, wire.Edit{Key: "kv_transfer_params", Raw: p.params})
		h.Handed = true
	case p.meet != nil && h.Replica.Kind.Transfer == engine.TransfersByMeeting:
		h.Edits = p.meet.edits(h.Edits, &h.Replica.Kind, true)
		h.Handed = true
	case h.Replica.OnlyAfterMeeting():
		return fmt.Errorf("%w: %s decodes only, and no engine hands it the prompt", routing.ErrNotTried, h.Replica.Name)
	}
	return nil
}

// paramsDepth is how deep an engine's kv_transfer_params may nest. Deeper ones are ignored.
const paramsDepth = 16

// Answer takes from a step's answer what the next steps need.
func (p *Protocol) Answer(h *ensemble.Hop, body []byte) error {
	var result struct {
		Tokens []json.Number   `json:"tokens"`
		Count  int             `json:"count"`
		Params json.RawMessage `json:"kv_transfer_params"`
	}
	if err := json.Unmarshal(body, &result); err != nil {
		return fmt.Errorf("%s: %w", h.Step.Name, err)
	}
	if h.Step.Name == Preprocess {
		return p.tokenized(h, result.Tokens)
	}
	if len(result.Params) > 1 && result.Params[0] == '{' && wire.Valid(result.Params, paramsDepth) {
		p.params, h.Hold = result.Params, true // passed on as they are
	}
	return nil
}

// Events returns events as they are: a handover leaves no trace in the answer.
func (p *Protocol) Events(events []byte) []byte { return events }

// Forget drops what engines have handed over, and returns true if there was any. The token ids are kept: they depend on
// no engine.
func (p *Protocol) Forget() bool {
	had := p.params != nil || p.meet != nil || p.ask != ""
	p.params, p.meet, p.ask = nil, nil, ""
	return had
}
