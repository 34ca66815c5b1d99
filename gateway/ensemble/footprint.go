package ensemble

import (
	"octet/kvpool"
	"octet/scheduler/gate"
)

// Footprint is what the prompts of a request occupy in a KV cache.
type Footprint struct {
	Chain   []kvpool.BlockHash // of the first prompt
	Tokens  int                // of all prompts
	Exact   bool               // Tokens was counted by the engine's tokenizer, not estimated from text
	Rest    gate.Further       // the part of Tokens behind the first prompt of a list
	Longest int                // tokens of the longest prompt of a list; zero for a single prompt
}

// LongestPrompt returns the tokens of the longest prompt: each has to fit in a context by itself.
func (f *Footprint) LongestPrompt() int {
	if f.Rest.Prompts == 0 {
		return f.Tokens
	}
	return f.Longest
}
