package stream

import "octet/gateway/sse"

// longestContext is more tokens than any engine's context holds: what is believed where the specialist's is not known.
const longestContext = 1 << 24

// Extent is the most that an answer can have come to, in tokens of all its sequences together. What an engine's usage
// says beyond that is not believed: it would empty the Gate's model of a cache, a tenant's budget, and the mean length
// of answers.
type Extent struct{ Prompt, Completion int }

// ExtentOf returns the extent of so many answers of at most most tokens to each of so many prompts, within an engine's
// context. For context and most, 0 and below is no limit.
func ExtentOf(context, most, answers, prompts int) Extent {
	if context <= 0 {
		context = longestContext
	}
	each := context
	if most > 0 {
		each = min(most, context)
	}
	prompts = max(prompts, 1)
	return Extent{Prompt: context * prompts, Completion: each * max(answers, 1) * prompts}
}

// Believe returns u as far as it can be.
func (e Extent) Believe(u sse.Usage) sse.Usage {
	u.PromptTokens = min(max(u.PromptTokens, 0), e.Prompt)
	u.CompletionTokens = min(max(u.CompletionTokens, 0), e.Completion)
	u.CachedTokens = min(max(u.CachedTokens, 0), u.PromptTokens)
	return u
}
