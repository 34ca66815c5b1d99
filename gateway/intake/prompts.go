package intake

import (
	"strconv"

	"octet/engine"
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

// PromptsOf returns the prompts of req; nil for a chat.
func PromptsOf(req *wire.Request) routing.Prompts {
	if req.Kind != wire.Completion {
		return nil
	}
	return &prompts{Request: req}
}

// Sequences is how many answers an engine generates for each prompt of r, side by side.
func Sequences(r *wire.Request) int { return max(r.N, r.BestOf, 1) }

// OneCount has both names of the most tokens say one number, the one that is counted here: engines differ in which they
// obey.
func OneCount(req *wire.Request, edits []wire.Edit) []wire.Edit {
	if !req.CountsDiffer() {
		return edits
	}
	return append(edits, wire.Edit{Key: "max_tokens", Raw: strconv.AppendInt(nil, int64(req.MaxTokens), 10)})
}

// AskPrompts makes r, which is zero, what the Gate is to know of the prompts of req and of how long the answers may be.
func AskPrompts(f *ensemble.Footprint, r *gate.Request, req *wire.Request) {
	r.Chain, r.PromptTokens, r.Further, r.N = f.Chain, f.Tokens-f.Rest.Tokens, f.Rest, Sequences(req)
	r.MaxNew = max(req.MaxTokens, 0)
}

// Asked is the prompt of a request, as engines of one kind see it.
type Asked struct {
	*Request
	Shown wire.Shown
}

// Text appends the prompt as an engine with the gateway's own chat template sees it.
func (a *Asked) Text(dst []byte) []byte { return RenderPrompt(a.Kind, &a.Parsed, a.Shown, dst) }

// Pieces returns the wording of the prompt, in pieces; valid until the next call.
func (a *Asked) Pieces() [][]byte {
	a.pieces = a.Parsed.Wording(a.pieces[:0], Frames, a.Shown)
	return a.pieces
}

// Render appends the prompt with all tools, as an engine with the gateway's own chat template sees it.
func (q *Request) Render(dst []byte) []byte {
	return RenderPrompt(q.Kind, &q.Parsed, wire.Shown{}, dst)
}

// Member returns a member of the body, as it stands there.
func (q *Request) Member(name string) []byte { return q.Parsed.Raw(name) }

// Frames are what RenderPrompt puts around messages, tools and calls: their newlines are in no wording.
var Frames = wire.FramesOf(engine.OpenTurn, engine.CloseTurn, wire.Marks{
	Tools:  wire.Pair{Open: engine.ToolsOpen, Shut: engine.ToolsShut},
	Format: wire.Pair{Open: engine.FormatOpen, Shut: engine.FormatShut},
	Call:   wire.Pair{Open: engine.CallOpen, Shut: engine.CallShut},
	Name:   engine.CallName, Said: engine.CallArguments, Gap: engine.ToolsGap, Break: engine.CallGap,
})

// RenderPrompt appends the prompt, the first one of a list, as an engine with our own chat template sees it.
func RenderPrompt(kind wire.Kind, req *wire.Request, shown wire.Shown, dst []byte) []byte {
	if kind != wire.Completion {
		return req.Render(dst, Frames, shown)
	}
	if req.Prompts() == 0 {
		return dst
	}
	text, _ := req.PromptText(0)
	return append(dst, text...)
}
