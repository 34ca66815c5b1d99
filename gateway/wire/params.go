package wire

// reader reads the value of one parameter; the path is the parameter's name.
type reader func(p *parser)

// longParams hold prompts and tools: other limits bound them than Limits.Bytes.
var longParams = map[string]bool{
	"messages": true, "prompt": true, "tools": true, "functions": true, suffixMember: true,
	snippetsMember: true, outputsMember: true,
}

var sharedParams = map[string]reader{
	"model":                 (*parser).modelName,
	"stream":                func(p *parser) { p.boolean(&p.r.Stream) },
	"stream_options":        (*parser).streamOptions,
	"max_tokens":            func(p *parser) { p.integer(1, maxInt, &p.r.maxTokens) },
	"max_completion_tokens": func(p *parser) { p.integer(1, maxInt, &p.r.maxCompletionTokens) },
	"n":                     func(p *parser) { p.integer(1, p.lim.Choices, &p.r.N) },
	"temperature":           func(p *parser) { p.float(interval{0, 2, false}, &p.r.Temperature) },
	"top_p":                 func(p *parser) { p.float(interval{0, 1, false}, &p.r.TopP) },
	"typical_p":             func(p *parser) { p.float(interval{0, 1, true}, &p.r.TypicalP) },
	"seed":                  (*parser).seed,
	"stop":                  (*parser).stop,
	"response_format":       (*parser).responseFormat,
	"use_beam_search":       func(p *parser) { p.boolean(&p.r.Beam) },
	"prompt_logprobs":       func(p *parser) { p.present(&p.r.Logprobs) },
	"guided_json":           structured,
	"guided_regex":          structured,
	"guided_choice":         structured,
	"guided_grammar":        structured,
	"structured_outputs":    structured,
	"json_schema":           structured,
	"grammar":               structured,
	"regex":                 structured,
	"ebnf":                  structured,
	snippetsMember:          func(p *parser) { p.extra(&p.r.extras.snippets) },
	outputsMember:           func(p *parser) { p.extra(&p.r.extras.outputs) },
	"cache_salt":            (*parser).salt,
	"min_tokens":            func(p *parser) { p.integer(0, maxInt, &p.r.minTokens) },
	"ignore_eos":            func(p *parser) { p.boolean(&p.r.endless) },

	// What an engine would obey and a client must not decide: its place in the queue, its rank, where KV blocks come
	// from, and whose request it is.
	"priority":               reserved,
	"request_id":             reserved,
	"rid":                    reserved,
	"data_parallel_rank":     reserved,
	"routed_dp_rank":         reserved,
	"disagg_prefill_dp_rank": reserved,
	"kv_transfer_params":     reserved,
	"bootstrap_host":         reserved,
	"bootstrap_port":         reserved,
	"bootstrap_room":         reserved,
	"lora_path":              reserved,
	"vllm_xargs":             reserved,
}

var chatParams = map[string]reader{
	"messages":           (*parser).messages,
	"tools":              func(p *parser) { p.tools() },
	"functions":          func(p *parser) { p.functions((*parser).tool) },
	"tool_choice":        (*parser).toolChoice,
	"function_call":      (*parser).toolChoice,
	"logprobs":           func(p *parser) { p.boolean(&p.r.Logprobs) },
	"top_logprobs":       func(p *parser) { p.count(&p.r.Logprobs) },
	"modalities":         (*parser).modalities,
	"audio":              unsupported,
	"web_search_options": unsupported,
	"store":              func(p *parser) { p.boolean(new(bool)) },
	"echo":               func(p *parser) { p.boolean(&p.r.Echo) },
	"best_of":            func(p *parser) { p.integer(1, p.lim.Choices, &p.r.BestOf) },
}

var completionParams = map[string]reader{
	"prompt":   (*parser).prompt,
	"suffix":   (*parser).suffix,
	"echo":     func(p *parser) { p.boolean(&p.r.Echo) },
	"best_of":  func(p *parser) { p.integer(1, p.lim.Choices, &p.r.BestOf) },
	"logprobs": (*parser).completionLogprobs,
}
