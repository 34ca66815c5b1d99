package sse

// mostAtOnce is how many tokens one event may bring: a count beyond is nonsense.
const mostAtOnce = 1 << 14

// mostEvent is the most bytes of one event.
func (o *Options) mostEvent() int {
	if o.MaxEvent > 0 {
		return o.MaxEvent
	}
	return defaultMaxEvent
}

// choiceOf returns the choice that a chunk is counted for. One that was not asked for is counted with the first.
func (o *Options) choiceOf(c *chunk) int {
	if c.index < 0 || c.index >= max(o.Choices, 1) {
		return 0
	}
	return c.index
}

// told is how many tokens the chunk says that its choice has brought, -1 where it does not say.
func (o *Options) told(c *chunk, p *part) int {
	if c.timings.to > 0 && c.predicted > 0 {
		return o.believed(p, c.predicted, c.choices == 1)
	}
	return o.believed(p, c.usage.CompletionTokens, c.choices == 1 && c.completion.to > 0)
}

// believed is a count that an event of p told, -1 where it did not, was not asked to, or cannot be right.
func (o *Options) believed(p *part, count int, told bool) int {
	if !told || !o.Told || count < 0 || count > p.tokens+mostAtOnce {
		return -1
	}
	return count
}
