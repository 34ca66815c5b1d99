package metrics

import (
	"sync"
)

// TokenRatio converts tokens as estimated from text into tokens as engines count them: a fading mean over the prompts
// that engines have counted.
type TokenRatio struct {
	mu        sync.Mutex
	estimated float64 // guarded by mu, as is tokens
	tokens    float64
}

// ratioFades is what is left of a measurement after each further one.
const ratioFades = 1 - 1.0/32

// Note learns from a prompt of so many estimated and so many counted tokens.
func (r *TokenRatio) Note(estimated, tokens int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.estimated, r.tokens = r.estimated*ratioFades+float64(estimated), r.tokens*ratioFades+float64(tokens)
}

// Tokens converts so many estimated tokens, rounded down; a negative result means that no prompt was counted yet.
func (r *TokenRatio) Tokens(estimated int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.estimated == 0 {
		return -1
	}
	return int(float64(estimated) * r.tokens / r.estimated)
}
