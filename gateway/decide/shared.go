package decide

// Told has told called with each conversation that is remembered by its session or its messages: a hash of either, the
// specialist, and the tokens of its prompt. Completions' are this gateway's own. It is called before the first request.
func (c *Conversations) Told(told func(conversation uint64, specialist string, tokens int)) {
	c.told = told
}

// Adopt remembers a conversation that another gateway has told of.
func (c *Conversations) Adopt(conversation uint64, specialist string, tokens int) {
	c.last.Add(conversation, seat{specialist: specialist, tokens: tokens})
}
