package engine

import "strings"

// overflowTypes are the error types and codes by which engines name a request that is longer than the context:
// llama.cpp's server and OpenAI's API.
var overflowTypes = [...]string{"exceed_context_size_error", "context_length_exceeded"}

// overflowWords are what engines without such a type say, in lower case: vLLM in the order of its versions, SGLang,
// llama.cpp before it had a type.
var overflowWords = [...]string{
	"maximum context length", "longer than the maximum model length", "model's context length",
	"exceeds the maximum allowed length", "exceed the maximum allowed length",
	"available context size", "maximum context size",
}

// IsContextOverflow returns true if an engine's refusal says that prompt and answer together are longer than its
// context. typ, code and message are those of the error object; any may be empty.
func IsContextOverflow(typ, code, message string) bool {
	for _, t := range overflowTypes {
		if typ == t || code == t {
			return true
		}
	}
	message = strings.ToLower(message)
	for _, words := range overflowWords {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}
