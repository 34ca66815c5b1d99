package gateway

import (
	"octet/gateway/ensemble"
	"octet/gateway/sse"
)

// longestContext is more tokens than any engine's context holds: what is believed where the specialist's is not known.
const longestContext = 1 << 24

// extent is the most that an answer can have come to, in tokens. What an engine's usage says beyond that is not
// believed: it would empty the Gate's model of a cache, a tenant's budget, and the mean length of answers.
type extent struct {
	prompt, completion int // of all sequences together
}

// extent is that of the request at the specialist at hand.
func (x *exchange) extent() extent {
	return extentOf(x.sp, x.maxTokens, x.answers, x.prompts)
}

// extentOf is the extent of so many answers of at most most tokens, 0 where nothing bounds them, to each of so many
// prompts.
func extentOf(sp *ensemble.Specialist, most, answers, prompts int) extent {
	context := sp.MaxContext()
	if context <= 0 {
		context = longestContext
	}
	each := context
	if most > 0 {
		each = min(most, context)
	}
	prompts = max(prompts, 1)
	return extent{prompt: context * prompts, completion: each * max(answers, 1) * prompts}
}

// believe is u as far as it can be.
func (e extent) believe(u sse.Usage) sse.Usage {
	u.PromptTokens = min(max(u.PromptTokens, 0), e.prompt)
	u.CompletionTokens = min(max(u.CompletionTokens, 0), e.completion)
	u.CachedTokens = min(max(u.CachedTokens, 0), u.PromptTokens)
	return u
}

// usageTold is the usage of the present engine's stream, as far as it is believed, and whether it said any.
func (x *exchange) usageTold() (sse.Usage, bool) {
	u, ok := x.scanner.Usage()
	return x.extent().believe(u), ok
}
