package engine

import "math"

// Kinds is a set of engine kinds.
type Kinds uint8

// The kinds, each as a set of its own.
const (
	VLLM Kinds = 1 << iota
	SGLang
	LlamaCpp
	OpenAI

	Every = ^Kinds(0) // those that are not named here included
)

// Form is what the value of a member must be; null stands for none in every form.
type Form uint8

// The forms of values.
const (
	Any     Form = iota // any JSON
	Flag                // true or false
	Whole               // an integer from Lo to Hi
	Real                // a number from Lo to Hi
	Text                // a string of at most Hi bytes; Hi 0 is no bound of its own
	Texts               // a string, or a list of strings of at most Hi bytes
	Wholes              // a list of integers from Lo to Hi
	Weights             // numbers from Lo to Hi by token, or a list of pairs
	Object              // an object
	Objects             // a list of objects
)

// Member is one top-level member of a chat or completion body, beyond those that decide what a request costs, and
// which engines take it.
type Member struct {
	Name   string
	By     Kinds // the kinds that know it; none: it is refused whatever the engine is
	Form   Form
	Lo, Hi float64
	Not    []string // members that its object must not have
}

const (
	token = math.MaxInt32 // the largest token id
	much  = 1e9           // beyond any sensible number
	word  = 256           // bytes of what is one word
)

// Members are what bodies may hold, by the protocols of the engines. What is not among them passes only where a
// replica passes the unknown.
var Members = concat(openAIMembers, samplerMembers, shapeMembers, answerMembers, templateMembers, refusedMembers())

func concat(lists ...[]Member) (all []Member) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// What OpenAI's own protocol has: engines read it, or leave it alone.
var openAIMembers = []Member{
	{Name: "frequency_penalty", By: Every, Form: Real, Lo: -2, Hi: 2},
	{Name: "presence_penalty", By: Every, Form: Real, Lo: -2, Hi: 2},
	{Name: "logit_bias", By: Every, Form: Weights, Lo: -much, Hi: much},
	{Name: "parallel_tool_calls", By: Every, Form: Flag},
	{Name: "reasoning_effort", By: Every, Form: Text, Hi: word},
	{Name: "verbosity", By: Every, Form: Text, Hi: word},
	{Name: "user", By: Every, Form: Text, Hi: 1024},
	{Name: "safety_identifier", By: Every, Form: Text, Hi: 1024},
	{Name: "prompt_cache_key", By: Every, Form: Text, Hi: 1024},
	{Name: "prompt_cache_retention", By: Every, Form: Text, Hi: word},
	{Name: "metadata", By: Every, Form: Object},
	{Name: "service_tier", By: Every, Form: Text, Hi: word},
	{Name: "prediction", By: Every, Form: Object},
	{Name: "suffix", By: SGLang | OpenAI, Form: Text},
	// what there was before tools: the engines whose protocols are known leave both alone, and the model would see none
	{Name: "functions", By: OpenAI, Form: Objects},
	{Name: "function_call", By: OpenAI},
}

// How the next token is chosen.
var samplerMembers = []Member{
	{Name: "top_k", By: VLLM | SGLang | LlamaCpp, Form: Whole, Lo: -1, Hi: token},
	{Name: "min_p", By: VLLM | SGLang | LlamaCpp, Form: Real, Lo: 0, Hi: 1},
	{Name: "typical_p", By: LlamaCpp},
	{Name: "repetition_penalty", By: VLLM | SGLang, Form: Real, Lo: 0, Hi: 100},
	{Name: "length_penalty", By: VLLM, Form: Real, Lo: -much, Hi: much},
	{Name: "use_beam_search", By: VLLM},
	{Name: "early_stopping", By: VLLM, Form: Flag},
	{Name: "allowed_token_ids", By: VLLM, Form: Wholes, Lo: 0, Hi: token},
	{Name: "bad_words", By: VLLM, Form: Texts},
	{Name: "repetition_detection", By: VLLM, Form: Object},
	{Name: "thinking_token_budget", By: VLLM, Form: Whole, Lo: -1, Hi: token},
	{Name: "repeat_penalty", By: LlamaCpp, Form: Real, Lo: 0, Hi: 100},
	{Name: "repeat_last_n", By: LlamaCpp, Form: Whole, Lo: -1, Hi: token},
	{Name: "top_n_sigma", By: LlamaCpp, Form: Real, Lo: -1, Hi: much},
	{Name: "xtc_probability", By: LlamaCpp, Form: Real, Lo: 0, Hi: 1},
	{Name: "xtc_threshold", By: LlamaCpp, Form: Real, Lo: 0, Hi: 1},
	{Name: "dynatemp_range", By: LlamaCpp, Form: Real, Lo: 0, Hi: much},
	{Name: "dynatemp_exponent", By: LlamaCpp, Form: Real, Lo: 0, Hi: much},
	{Name: "dry_multiplier", By: LlamaCpp, Form: Real, Lo: 0, Hi: much},
	{Name: "dry_base", By: LlamaCpp, Form: Real, Lo: 0, Hi: much},
	{Name: "dry_allowed_length", By: LlamaCpp, Form: Whole, Lo: 0, Hi: token},
	{Name: "dry_penalty_last_n", By: LlamaCpp, Form: Whole, Lo: -1, Hi: token},
	{Name: "dry_sequence_breakers", By: LlamaCpp, Form: Texts},
	{Name: "mirostat", By: LlamaCpp, Form: Whole, Lo: 0, Hi: 2},
	{Name: "mirostat_tau", By: LlamaCpp, Form: Real, Lo: 0, Hi: much},
	{Name: "mirostat_eta", By: LlamaCpp, Form: Real, Lo: 0, Hi: much},
	{Name: "adaptive_target", By: LlamaCpp, Form: Real, Lo: -1, Hi: 1},
	{Name: "adaptive_decay", By: LlamaCpp, Form: Real, Lo: 0, Hi: 1},
	{Name: "min_keep", By: LlamaCpp, Form: Whole, Lo: 0, Hi: token},
	{Name: "samplers", By: LlamaCpp, Form: Texts, Hi: word},
}

// What an answer must look like, and when it ends.
var shapeMembers = []Member{
	{Name: "guided_json", By: VLLM},
	{Name: "guided_regex", By: VLLM},
	{Name: "guided_choice", By: VLLM},
	{Name: "guided_grammar", By: VLLM},
	{Name: "structured_outputs", By: VLLM},
	{Name: "guided_decoding_backend", By: VLLM, Form: Text, Hi: word},
	{Name: "guided_whitespace_pattern", By: VLLM, Form: Text, Hi: 4096},
	{Name: "json_schema", By: SGLang | LlamaCpp},
	{Name: "grammar", By: LlamaCpp},
	{Name: "regex", By: SGLang},
	{Name: "ebnf", By: SGLang},
	{Name: "stop_token_ids", By: VLLM | SGLang, Form: Wholes, Lo: 0, Hi: token},
	{Name: "stop_regex", By: SGLang, Form: Texts, Hi: 4096},
	{Name: "no_stop_trim", By: SGLang, Form: Flag},
	{Name: "include_stop_str_in_output", By: VLLM, Form: Flag},
	{Name: "min_tokens", By: VLLM | SGLang, Form: Whole, Lo: 0, Hi: token},
	{Name: "ignore_eos", By: VLLM | SGLang | LlamaCpp, Form: Flag},
	{Name: "t_max_predict_ms", By: LlamaCpp, Form: Whole, Lo: -1, Hi: token},
	{Name: "n_indent", By: LlamaCpp, Form: Whole, Lo: 0, Hi: token},
	{Name: "skip_special_tokens", By: VLLM | SGLang, Form: Flag},
	{Name: "spaces_between_special_tokens", By: VLLM, Form: Flag},
}

// What is told beside the text.
var answerMembers = []Member{
	{Name: "prompt_logprobs", By: VLLM},
	{Name: "logprob_token_ids", By: VLLM, Form: Wholes, Lo: 0, Hi: token},
	{Name: "return_token_ids", By: VLLM | SGLang, Form: Flag},
	{Name: "return_tokens_as_token_ids", By: VLLM, Form: Flag},
	{Name: "return_cached_tokens_details", By: SGLang, Form: Flag},
	{Name: "n_probs", By: LlamaCpp, Form: Whole, Lo: 0, Hi: 1000},
	{Name: "post_sampling_probs", By: LlamaCpp, Form: Flag},
	{Name: "return_tokens", By: LlamaCpp, Form: Flag},
	{Name: "return_progress", By: LlamaCpp, Form: Flag},
	{Name: "timings_per_token", By: LlamaCpp, Form: Flag},
	{Name: "include_reasoning", By: VLLM, Form: Flag},
	{Name: "separate_reasoning", By: SGLang, Form: Flag},
	{Name: "stream_reasoning", By: SGLang, Form: Flag},
	{Name: "reasoning_format", By: LlamaCpp, Form: Text, Hi: word},
	{Name: "parse_tool_calls", By: LlamaCpp, Form: Flag},
}

// How the prompt is made, and kept.
var templateMembers = []Member{
	{Name: "chat_template_kwargs", By: VLLM | SGLang | LlamaCpp, Form: Object, Not: []string{
		"tokenize", "tokenizer", "tokenizer_kwargs", "processor_kwargs", "return_tensors", "return_dict",
		"conversation",
		"messages", "padding", "truncation", "max_length",
	}},
	{Name: "add_generation_prompt", By: VLLM | LlamaCpp, Form: Flag},
	{Name: "continue_final_message", By: VLLM | SGLang, Form: Flag},
	{Name: "add_special_tokens", By: VLLM, Form: Flag},
	{Name: "documents", By: VLLM, Form: Objects},
	{Name: "cache_salt", By: Every}, // the gateway makes it what the engine can use
	{Name: "cache_prompt", By: LlamaCpp, Form: Flag},
	{Name: "n_keep", By: LlamaCpp, Form: Whole, Lo: -1, Hi: token},
	{Name: "n_discard", By: LlamaCpp, Form: Whole, Lo: 0, Hi: token},
}
