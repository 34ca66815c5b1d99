package gateway

import (
	"sync"

	"octet/gateway/sse"
)

// tokenRatio is how many tokens of its engines a specialist's prompts have for each that chunks of their text stand
// for: a fading mean over what engines say of prompts.
type tokenRatio struct {
	mu     sync.Mutex
	chunks float64 // guarded by mu, as is tokens
	tokens float64
}

// ratioFades is what is left of a measurement after each further one.
const ratioFades = 1 - 1.0/32

func (r *tokenRatio) note(chunks, tokens int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.chunks, r.tokens = r.chunks*ratioFades+float64(chunks), r.tokens*ratioFades+float64(tokens)
}

// of returns what so many are in tokens, rounded down; below 0 is not known.
func (r *tokenRatio) of(chunks int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chunks == 0 {
		return -1
	}
	return int(float64(chunks) * r.tokens / r.chunks)
}

// foretell says the prediction in the engine's tokens.
func (x *exchange) foretell() {
	x.foretold = x.predicted
	if x.predicted > 0 && !x.prompt.Exact {
		x.foretold = x.sp.handles.ratio.of(x.predicted)
	}
}

// noteRatio learns from what an engine says of a prompt whose tokens nobody else has counted.
func (x *exchange) noteRatio(u sse.Usage) {
	if !x.prompt.Exact && u.PromptTokens > 0 && x.prompt.Tokens > 0 && x.prompts <= 1 {
		x.sp.handles.ratio.note(x.prompt.Tokens, u.PromptTokens)
	}
}
