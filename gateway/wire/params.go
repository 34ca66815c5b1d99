package wire

// reader reads the value of one parameter; the path is the parameter's name.
type reader func(p *parser)

// paramOf finds who reads a top-level member; nil for one that passes through unread.
func paramOf(kind Kind, name []byte) *entry { return paramBy(kind, name, printOf(name)) }

// paramBy is paramOf for a name whose print is known.
func paramBy(kind Kind, name []byte, print uint64) *entry {
	if kind == Completion {
		return allOfCompletion.find(name, print)
	}
	return allOfChat.find(name, print)
}

// table finds readers by name: in slots, so that a look costs less than one into a map.
type table [64][]entry

type entry struct {
	print uint64 // of the name
	name  string
	read  reader
	bit   uint64 // one of its own in the table
}

// slotOf spreads prints by Fibonacci hashing.
func slotOf(print uint64) uint64 { return print * 0x9E3779B97F4A7C15 >> 58 }

// tableOf makes one table of several; of two with one name the first counts.
func tableOf(all ...map[string]reader) *table {
	t := new(table)
	bit := uint64(1)
	for _, params := range all {
		for name, read := range params {
			print := printOf([]byte(name))
			if t.find([]byte(name), print) != nil {
				continue
			}
			t[slotOf(print)] = append(t[slotOf(print)], entry{print, name, read, bit})
			if bit <<= 1; bit == 0 {
				panic("wire: more than 63 parameters")
			}
		}
	}
	return t
}

func (t *table) find(name []byte, print uint64) *entry {
	slot := t[slotOf(print)]
	for i := range slot {
		e := &slot[i]
		if e.print == print && len(e.name) == len(name) && (len(name) <= 8 || e.name == string(name)) {
			return e
		}
	}
	return nil
}

var allOfChat, allOfCompletion = tableOf(chatParams, sharedParams), tableOf(completionParams, sharedParams)

var sharedParams = map[string]reader{
	"model":                 (*parser).modelName,
	"stream":                func(p *parser) { p.boolean(&p.r.Stream) },
	"stream_options":        (*parser).streamOptions,
	"max_tokens":            func(p *parser) { p.integer(1, maxInt, &p.r.maxTokens) },
	"max_completion_tokens": func(p *parser) { p.integer(1, maxInt, &p.r.maxCompletionTokens) },
	"n":                     func(p *parser) { p.integer(1, p.lim.Choices, &p.r.N) },
	"temperature":           func(p *parser) { p.float(interval{0, 2, false}, &p.r.Temperature) },
	"top_p":                 func(p *parser) { p.float(interval{0, 1, true}, &p.r.TopP) },
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
	"repo_snippets":         func(p *parser) { p.strings(&p.r.snippets) },
	"tool_outputs":          func(p *parser) { p.strings(&p.r.outputs) },
	"cache_salt":            (*parser).salt,

	// What an engine would obey and a client must not decide: its place in the queue, its rank, where KV blocks come from, and
	// whose request it is.
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
	"functions":          func(p *parser) { p.tools() },
	"tool_choice":        (*parser).toolChoice,
	"function_call":      (*parser).toolChoice,
	"logprobs":           func(p *parser) { p.boolean(&p.r.Logprobs) },
	"top_logprobs":       func(p *parser) { p.count(&p.r.Logprobs) },
	"modalities":         (*parser).modalities,
	"audio":              unsupported,
	"web_search_options": unsupported,
	"store":              (*parser).store,
}

var completionParams = map[string]reader{
	"prompt":   (*parser).prompt,
	"suffix":   unsupported,
	"echo":     func(p *parser) { p.boolean(&p.r.Echo) },
	"best_of":  func(p *parser) { p.integer(1, p.lim.Choices, &p.r.BestOf) },
	"logprobs": (*parser).completionLogprobs,
}
