package config

import "time"

// Disaggregation is when one replica computes a prompt for another that answers, and what happens when that fails.
// Replicas of vLLM and SGLang can; the two of one request are of the same kind.
type Disaggregation struct {
	// Shorter prompts are computed by the replica that answers; those of SGLang whose role is decode compute none.
	MinPromptTokens int `yaml:"min_prompt_tokens" default:"512" range:"0..16777216"`
	// So are prompts of which the answering replica is believed to lack fewer tokens.
	MinUncachedTokens int `yaml:"min_uncached_tokens" default:"256" range:"0..16777216"`
	// Making tokens of the prompt, where workflow is three-step.
	Preprocess Leg `yaml:"preprocess"`
	// Computing the prompt.
	Prefill Leg `yaml:"prefill"`
	// Where power-of-two, device-aware or least-load picks the engine that computes the prompt, it has taken its part
	// before the answering replica is asked. Of SGLang's engines that is waited for so long at most; those of vLLM have
	// computed it by then.
	AcceptTimeout time.Duration `yaml:"accept_timeout" default:"250ms" range:"1ms..1m"`
	// The profile that picks the replica that answers; empty = the specialist's.
	DecodeProfile string `yaml:"decode_profile" form:"name"`
}

// Leg is one step before the one that answers.
type Leg struct {
	// The profile that picks the replica; empty = the specialist's.
	Profile string `yaml:"profile" form:"name"`
	// What a failure does: the next replica in rank (retry), on without the step (skip), or the end of the request
	// (fail).
	OnFailure string `yaml:"on_failure" default:"skip" enum:"retry skip fail"`
	// Replicas tried before that; 0 = one, or under retry all, within limits.max_attempts.
	Attempts int `yaml:"attempts" default:"0" range:"0..16"`
}
