package gateway

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

// Names of the steps that Handover knows.
const (
	StepPreprocess = "preprocess" // the prompt's tokens
	StepPrefill    = "prefill"    // the prompt's keys and values
	StepDecode     = "decode"     // the answer
)

// Handover is the Protocol of disaggregated serving: one replica makes tokens of the prompt, one computes its keys and
// values, and the one that answers goes on from there. vLLM's engines pull (kv_transfer_params), SGLang's meet at a
// bootstrap server, and engines behind a routing sidecar read in a header which engine to ask.
type Handover struct {
	Room func() int64 // of SGLang's meetings, none like another; not negative
	// Accept is how long the engine that answers is asked after the one that prefills has taken its part, at the
	// latest; 0 is that both are asked at once. Engines that meet cannot wait for more: the one is done when the other
	// has come.
	Accept time.Duration

	tokens []byte // the prompt as the body of the next steps has it, raw; nil means as the client sent it
	params []byte // vLLM's kv_transfer_params for the answering engine, raw
	meet   *meeting
	ask    string // host:port of the engine that the answering engine is to have compute the prompt
}

// meeting is where two of SGLang's engines find each other.
type meeting struct {
	host string
	port int
	room int64
}

// Request implements Protocol.
func (o *Handover) Request(h *ensemble.Hop) error {
	switch h.Step.Name {
	case StepPreprocess:
		return o.tokenize(h)
	case StepPrefill:
		return o.prefill(h)
	}
	o.useTokens(h)
	switch {
	case o.ask != "" && h.Replica.PrefillHeader:
		h.Fields = append(h.Fields, engine.Field{Name: prefillerHeader, Value: o.ask})
		h.Handed = true
	case o.params != nil && h.Replica.Kind.Transfer == engine.TransfersByPull:
		h.Edits = append(h.Edits, wire.Edit{Key: "kv_transfer_params", Raw: o.params})
		h.Handed = true
	case o.meet != nil && h.Replica.Kind.Transfer == engine.TransfersByMeeting:
		h.Edits = o.meet.edits(h.Edits)
		h.Handed = true
	case h.Replica.OnlyAfterMeeting():
		return fmt.Errorf("%w: %s decodes only, and nobody hands it the prompt", routing.ErrNotTried, h.Replica.Name)
	}
	return nil
}

// tokenize asks for the prompt's token ids, in the form in which vLLM and SGLang take it.
func (o *Handover) tokenize(h *ensemble.Hop) error {
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

// member is one of a body that a leg's request has otherwise.
type member struct {
	key, raw string
	always   bool // also where the client does not have it
}

var (
	// whole has an engine answer in one piece, so that its status tells how it went.
	whole = []member{{"stream", "false", false}, {"stream_options", "null", false}}
	// soon has an engine answer as a stream, whose head says that it has taken the request.
	soon = []member{{"stream", "true", true}, {"stream_options", "null", false}}
	// oneToken has an engine compute a prompt and stop at its first token.
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

// prefill has the prompt computed for another engine.
func (o *Handover) prefill(h *ensemble.Hop) error {
	if prompt := h.Client.Raw("prompt"); len(prompt) > 1 && prompt[0] == '[' && !isNumber(prompt) {
		return fmt.Errorf("%w: several prompts", routing.ErrNotTried)
	}
	if h.Answerer != nil && h.Answerer.PrefillHeader {
		return o.announce(h)
	}
	o.useTokens(h)
	h.Stream = o.Accept > 0 && h.Replica.Kind.Transfer == engine.TransfersByMeeting
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
		o.meet = &meeting{at.Hostname(), h.Replica.BootstrapPort, o.Room()}
		h.Edits = o.meet.edits(h.Edits)
		h.Beside, h.Hold, h.Accept = true, true, o.Accept
	default:
		return fmt.Errorf("%w: %s engines hand nothing over", routing.ErrNotTried, h.Replica.Kind.Name)
	}
	return nil
}

// prefillerHeader names the engine that is to compute the prompt to the one that answers, in the manner of llm-d's
// sidecar.
const prefillerHeader = "X-Prefiller-Host-Port"

// announce leaves it to the answering engine to have the prompt computed by this replica, which keeps a place for it.
func (o *Handover) announce(h *ensemble.Hop) error {
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
	o.ask, h.Unasked = net.JoinHostPort(at.Hostname(), port), true
	return nil
}

// forDecode asks vLLM to keep the prompt's blocks for another engine.
//
//nolint:lll // one literal, as it goes over the wire
const forDecode = `{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`

// isNumber reports whether a list begins with a number: then it is one prompt of token ids.
func isNumber(list []byte) bool {
	i := slices.IndexFunc(list[1:], func(c byte) bool { return c > ' ' })
	return i >= 0 && list[1+i] >= '0' && list[1+i] <= '9'
}

// useTokens puts the token ids of an earlier step where the client has text: of a completion's one prompt.
func (o *Handover) useTokens(h *ensemble.Hop) {
	if prompt := h.Client.Raw("prompt"); o.tokens != nil && len(prompt) > 0 && prompt[0] == '"' {
		h.Edits = append(h.Edits, wire.Edit{Key: "prompt", Raw: o.tokens})
	}
}

func (m *meeting) edits(edits []wire.Edit) []wire.Edit {
	return append(edits,
		wire.Edit{Key: "bootstrap_host", Raw: wire.AppendQuoted(nil, m.host)},
		wire.Edit{Key: "bootstrap_port", Raw: fmt.Appendf(nil, "%d", m.port)},
		wire.Edit{Key: "bootstrap_room", Raw: fmt.Appendf(nil, "%d", m.room)})
}

// paramsDepth is how deep an engine's kv_transfer_params may nest. Deeper ones are as good as none.
const paramsDepth = 16

// Answer implements Protocol.
func (o *Handover) Answer(h *ensemble.Hop, body []byte) error {
	var said struct {
		Tokens []json.Number   `json:"tokens"`
		Count  int             `json:"count"`
		Params json.RawMessage `json:"kv_transfer_params"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return fmt.Errorf("%s: %w", h.Step.Name, err)
	}
	if h.Step.Name == StepPreprocess {
		return o.tokenized(h, said.Tokens)
	}
	if len(said.Params) > 1 && said.Params[0] == '{' && wire.Valid(said.Params, paramsDepth) {
		o.params, h.Hold = said.Params, true // passed on as they are
	}
	return nil
}

func (o *Handover) tokenized(h *ensemble.Hop, tokens []json.Number) error {
	if len(tokens) == 0 {
		return fmt.Errorf("%s: no tokens", h.Step.Name)
	}
	o.tokens, h.PromptTokens = []byte{'['}, len(tokens)
	for i, t := range tokens {
		if i > 0 {
			o.tokens = append(o.tokens, ',')
		}
		o.tokens = append(o.tokens, t...)
	}
	o.tokens = append(o.tokens, ']')
	return nil
}

// Events implements Protocol.
func (o *Handover) Events(events []byte) []byte { return events }

// Forget implements Protocol. The tokens are kept: they are no engine's.
func (o *Handover) Forget() bool {
	had := o.params != nil || o.meet != nil || o.ask != ""
	o.params, o.meet, o.ask = nil, nil, ""
	return had
}
