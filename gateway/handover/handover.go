package handover

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
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

// meeting is where two SGLang engines find each other.
type meeting struct {
	host string
	port int
	room int64
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
		h.Edits = p.meet.edits(h.Edits)
		h.Handed = true
	case h.Replica.OnlyAfterMeeting():
		return fmt.Errorf("%w: %s decodes only, and no engine hands it the prompt", routing.ErrNotTried, h.Replica.Name)
	}
	return nil
}

// tokenize asks for the prompt's token ids, in the form that vLLM and SGLang take.
func (p *Protocol) tokenize(h *ensemble.Hop) error {
	if !h.Replica.Kind.TokenizesChats {
		return fmt.Errorf("%w: %s engines do not tokenize chats", routing.ErrNotTried, h.Replica.Kind.Name)
	}
	body := map[string]json.RawMessage{"model": wire.AppendQuoted(nil, h.Replica.Model)}
	for _, name := range []string{"prompt", "messages", "tools", "add_generation_prompt", "continue_final_message"} {
		if raw := h.Client.Raw(name); raw != nil {
			body[name] = raw
		}
	}
	if prompt := body["prompt"]; prompt != nil && prompt[0] != '"' {
		return fmt.Errorf("%w: the prompt is tokens already, or several", routing.ErrNotTried)
	}
	h.Path, h.Stream, h.NoPlace = h.Replica.Kind.Paths.Tokenize, false, true
	var err error
	h.Body, err = json.Marshal(body)
	return err
}

// member is a member of the body that is different in a leg's request.
type member struct {
	key, raw string
	always   bool // set even if the client's body does not have it
}

var (
	// whole asks for the answer in one piece, so that its status says whether it succeeded.
	whole = []member{{"stream", "false", false}, {"stream_options", "null", false}}
	// soon asks for the answer as a stream, whose head says that the engine has accepted the request.
	soon = []member{{"stream", "true", true}, {"stream_options", "null", false}}
	// oneToken asks for the prompt's computation and its first token alone.
	oneToken = []member{{"max_tokens", "1", true}, {"max_completion_tokens", "1", false}, {"min_tokens", "0", false},
		{"n", "1", false}, {"best_of", "1", false}}
)

// set appends the edits that give the members to the request of h.
func set(h *ensemble.Hop, members []member) {
	for _, m := range members {
		if m.always || h.Client.Raw(m.key) != nil {
			h.Edits = append(h.Edits, wire.Edit{Key: m.key, Raw: []byte(m.raw)})
		}
	}
}

// prefill asks for the prompt's computation on behalf of another engine.
func (p *Protocol) prefill(h *ensemble.Hop) error {
	if prompt := h.Client.Raw("prompt"); len(prompt) > 1 && prompt[0] == '[' && !isNumber(prompt) {
		return fmt.Errorf("%w: several prompts", routing.ErrNotTried)
	}
	if h.Answerer != nil && h.Answerer.PrefillHeader {
		return p.announce(h)
	}
	p.useTokens(h)
	h.Stream = p.Accept > 0 && h.Replica.Kind.Transfer == engine.TransfersByMeeting
	if h.Stream {
		set(h, soon)
	} else {
		set(h, whole)
	}
	switch h.Replica.Kind.Transfer {
	case engine.TransfersByPull:
		set(h, oneToken)
		h.Edits = append(h.Edits, wire.Edit{Key: "kv_transfer_params", Raw: []byte(forDecode)})
	case engine.TransfersByMeeting:
		at, err := url.Parse(h.Replica.Fleet.Spec().URL)
		if err != nil {
			return fmt.Errorf("%w: %w", routing.ErrNotTried, err)
		}
		p.meet = &meeting{at.Hostname(), h.Replica.BootstrapPort, p.Room()}
		h.Edits = p.meet.edits(h.Edits)
		h.Beside, h.Hold, h.Accept = true, true, p.Accept
	default:
		return fmt.Errorf("%w: %s engines hand nothing over", routing.ErrNotTried, h.Replica.Kind.Name)
	}
	return nil
}

// prefillerHeader tells a decode's llm-d sidecar which engine computes the prompt.
const prefillerHeader = "X-Prefiller-Host-Port"

// announce notes the replica for the decode's sidecar, which asks it for the prompt itself. The step asks no engine; it
// holds the replica's place meanwhile.
func (p *Protocol) announce(h *ensemble.Hop) error {
	at, err := url.Parse(h.Replica.Fleet.Spec().URL)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", routing.ErrNotTried, err)
	case strings.Trim(at.Path, "/") != "":
		return fmt.Errorf("%w: a header cannot say the path of %s", routing.ErrNotTried, h.Replica.Name)
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	p.ask, h.Unasked = net.JoinHostPort(at.Hostname(), port), true
	return nil
}

// forDecode asks vLLM to keep the prompt's blocks until another engine has fetched them.
//
//nolint:lll // one literal, as it goes over the wire
const forDecode = `{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`

// isNumber returns true if a JSON list begins with a number: then it is one prompt of token ids.
func isNumber(list []byte) bool {
	i := slices.IndexFunc(list[1:], func(c byte) bool { return c > ' ' })
	return i >= 0 && list[1+i] >= '0' && list[1+i] <= '9'
}

// useTokens replaces the text of a completion's only prompt by the token ids of an earlier step, if there are any.
func (p *Protocol) useTokens(h *ensemble.Hop) {
	if prompt := h.Client.Raw("prompt"); p.tokens != nil && len(prompt) > 0 && prompt[0] == '"' {
		h.Edits = append(h.Edits, wire.Edit{Key: "prompt", Raw: p.tokens})
	}
}

func (m *meeting) edits(edits []wire.Edit) []wire.Edit {
	return append(edits,
		wire.Edit{Key: "bootstrap_host", Raw: wire.AppendQuoted(nil, m.host)},
		wire.Edit{Key: "bootstrap_port", Raw: fmt.Appendf(nil, "%d", m.port)},
		wire.Edit{Key: "bootstrap_room", Raw: fmt.Appendf(nil, "%d", m.room)})
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

func (p *Protocol) tokenized(h *ensemble.Hop, tokens []json.Number) error {
	if len(tokens) == 0 {
		return fmt.Errorf("%s: no tokens", h.Step.Name)
	}
	p.tokens, h.PromptTokens = []byte{'['}, len(tokens)
	for i, t := range tokens {
		if i > 0 {
			p.tokens = append(p.tokens, ',')
		}
		p.tokens = append(p.tokens, t...)
	}
	p.tokens = append(p.tokens, ']')
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
