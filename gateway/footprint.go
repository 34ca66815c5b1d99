package gateway

import (
	"octet/kvpool"
	"octet/scheduler/gate"
)

// Footprint is what a prompt will occupy.
type Footprint struct {
	Chain   []kvpool.BlockHash // of the first prompt
	Tokens  int                // of all prompts
	Exact   bool               // Tokens was counted by the engine's tokenizer, not estimated from text
	Rest    gate.Further       // of Tokens: what comes behind the first prompt of a list
	Longest int                // tokens of the longest prompt of a list; 0 of one prompt
}

// LongestPrompt returns the tokens of the longest prompt: each has to fit in a context by itself.
func (f *Footprint) LongestPrompt() int {
	if f.Rest.Prompts == 0 {
		return f.Tokens
	}
	return f.Longest
}
