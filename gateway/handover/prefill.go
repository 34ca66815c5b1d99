package handover

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
)

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
	several, byHeader := isList(h.Client.Raw("prompt")), h.Answerer != nil && h.Answerer.PrefillHeader
	if several && (byHeader || h.Replica.Kind.Transfer != engine.TransfersByMeeting) {
		return fmt.Errorf("%w: several prompts", routing.ErrNotTried)
	}
	if byHeader {
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
		p.meet = &meeting{host: at.Hostname(), port: h.Replica.BootstrapPort, rank: h.Replica.Rank, several: several}
		for range max(1, h.Client.Prompts()) {
			p.meet.rooms = append(p.meet.rooms, p.Room())
		}
		h.Edits = p.meet.edits(h.Edits, &h.Replica.Kind, false)
		h.Beside, h.Hold, h.Accept = true, true, p.Accept
	default:
		return fmt.Errorf("%w: %s engines hand nothing over", routing.ErrNotTried, h.Replica.Kind.Name)
	}
	return nil
}

// forDecode asks vLLM to keep the prompt's blocks until another engine has fetched them.
//
//nolint:lll // one literal, as it goes over the wire
const forDecode = `{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}`

// prefillerHeader tells a decode's llm-d sidecar which engine computes the prompt.
const prefillerHeader = "X-Prefiller-Host-Port"

// announce notes the replica for the decode's sidecar, which asks it for the prompt itself. The step asks no engine; it
// holds the replica's place meanwhile.
func (p *Protocol) announce(h *ensemble.Hop) error {
	at, err := url.Parse(h.Replica.Fleet.Spec().URL)
	_, ranked := h.Replica.Rank.Number()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", routing.ErrNotTried, err)
	case ranked:
		return fmt.Errorf("%w: a header cannot say the rank of %s", routing.ErrNotTried, h.Replica.Name)
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

// meeting is where two SGLang engines find each other.
type meeting struct {
	host    string
	port    int
	rooms   []int64     // one for each prompt
	several bool        // the prompts are a list, if only of one
	rank    engine.Rank // that computes the prompts
}

// edits returns edits with what an engine of a kind is told of the meeting. decodes says that it does not compute the
// prompt.
func (m *meeting) edits(edits []wire.Edit, kind *engine.Kind, decodes bool) []wire.Edit {
	if _, ranked := m.rank.Number(); ranked && decodes && kind.Ranks.Met != "" {
		edits = append(edits, wire.Edit{Key: kind.Ranks.Met, Raw: []byte(m.rank.String())})
	}
	host, port := wire.AppendQuoted(nil, m.host), strconv.AppendInt(nil, int64(m.port), 10)
	room := func(i int) []byte { return strconv.AppendInt(nil, m.rooms[i], 10) }
	return append(edits,
		wire.Edit{Key: "bootstrap_host", Raw: m.each(func(int) []byte { return host })},
		wire.Edit{Key: "bootstrap_port", Raw: m.each(func(int) []byte { return port })},
		wire.Edit{Key: "bootstrap_room", Raw: m.each(room)})
}

// each returns what an engine is told of each prompt: a list where the prompts are one.
func (m *meeting) each(of func(prompt int) []byte) []byte {
	if !m.several {
		return of(0)
	}
	all := make([][]byte, len(m.rooms))
	for i := range all {
		all[i] = of(i)
	}
	return slices.Concat([]byte{'['}, bytes.Join(all, []byte{','}), []byte{']'})
}
