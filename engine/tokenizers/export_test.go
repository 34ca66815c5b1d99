package tokenizers

import (
	"time"

	"octet/routing"
)

// FirstPrompts, Question and CompareOne are what new engines are compared by.
var (
	FirstPrompts = firstPrompts
	Question     = question
	CompareOne   = compare
)

// One returns the tokenizer in force for a specialist.
func (t *Tokenizers) One(specialist string) *tokenizer { return (*t.by.Load())[specialist] }

// Toolless returns true once prompts with tools are not tokenized any more.
func (t *tokenizer) Toolless() bool { return t.toolless.Load() }

// Render returns the tokens of a prompt, without any cache.
func (t *tokenizer) Render(f *routing.Facts) ([]uint32, error) {
	r, err := t.Local.render(nil, f, &t.as, time.Now())
	return t.Local.ids(r), err
}

// NoneExact returns true if every one of the replicas differs.
func (c *Checks) NoneExact(replicas []Engine) bool { return c.noneExact(replicas) }
