package gateway

import (
	"strconv"

	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
	"octet/scheduler/gate"
)

// prompts are a completion's, for the pipeline.
type prompts struct {
	*wire.Request
	pieces [][]byte
}

// PromptPieces implements routing.Prompts.
func (p *prompts) PromptPieces(i int) [][]byte {
	p.pieces = p.PromptWording(i, p.pieces[:0])
	return p.pieces
}

// promptsOf returns the prompts of req; nil for a chat.
func promptsOf(req *wire.Request) routing.Prompts {
	if req.Kind != wire.Completion {
		return nil
	}
	return &prompts{Request: req}
}

// sequences is how many answers an engine generates for each prompt of r, side by side.
func sequences(r *wire.Request) int { return max(r.N, r.BestOf, 1) }

// oneCount has both names of the most tokens say one number, the one that is counted here: engines differ in which they
// obey.
func oneCount(req *wire.Request, edits []wire.Edit) []wire.Edit {
	if !req.CountsDiffer() {
		return edits
	}
	return append(edits, wire.Edit{Key: "max_tokens", Raw: strconv.AppendInt(nil, int64(req.MaxTokens), 10)})
}

// promptMember names the member of the body that holds the prompt.
func (x *exchange) promptMember() string {
	if x.kind == wire.Completion {
		return "prompt"
	}
	return "messages"
}

// askPrompts makes r, which is zero, what the Gate is to know of the prompts of req and of how long the answers may be.
func askPrompts(f *ensemble.Footprint, r *gate.Request, req *wire.Request) {
	r.Chain, r.PromptTokens, r.Further, r.N = f.Chain, f.Tokens-f.Rest.Tokens, f.Rest, sequences(req)
	r.MaxNew = max(req.MaxTokens, 0)
}
