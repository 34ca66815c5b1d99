package emulator

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// prompt is one input sequence; text is empty when it came as token ids.
type prompt struct {
	text   []byte
	tokens []uint32
}

func textPrompt(text []byte) prompt { return prompt{text, engine.Tokenize(nil, text)} }

// prompts returns what a "prompt" field holds: a string, a list of strings, token ids, or a list of lists of them.
func prompts(raw jsontext.Value) ([]prompt, error) {
	var (
		text  string
		texts []string
		ids   []uint32
		lists [][]uint32
		out   []prompt
	)
	switch {
	case raw.Kind() == 'n':
	case json.Unmarshal(raw, &text) == nil:
		out = append(out, textPrompt([]byte(text)))
	case json.Unmarshal(raw, &texts) == nil:
		for _, t := range texts {
			out = append(out, textPrompt([]byte(t)))
		}
	case json.Unmarshal(raw, &ids) == nil:
		out = append(out, prompt{tokens: ids})
	case json.Unmarshal(raw, &lists) == nil:
		for _, l := range lists {
			out = append(out, prompt{tokens: l})
		}
	}
	if len(out) == 0 {
		return nil, badRequest("prompt", "prompt must be a string, a list of strings, token ids, or a list of lists of them")
	}
	return out, nil
}

// earlier returns p without its last n tokens: the prompt that an answer began with before it had to be continued.
func (p prompt) earlier(n int) prompt {
	keep := len(p.tokens) - n
	rest := p.text
	for range min(keep, len(rest)) {
		rest = rest[engine.Piece(rest):]
	}
	return prompt{p.text[:len(p.text)-len(rest)], p.tokens[:keep]}
}
