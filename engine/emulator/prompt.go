package emulator

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// prompt is one input sequence; text is empty when it came as token ids.
type prompt struct {
	text   []byte
	tokens []uint32
}

// prompts returns what a "prompt" field holds: a string, a list of strings, token ids, or a list of lists of them.
func prompts(t codec, raw jsontext.Value) ([]prompt, error) {
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
		out = append(out, prompt{[]byte(text), t.tokens([]byte(text), true)})
	case json.Unmarshal(raw, &texts) == nil:
		for _, text := range texts {
			out = append(out, prompt{[]byte(text), t.tokens([]byte(text), true)})
		}
	case json.Unmarshal(raw, &ids) == nil:
		out = append(out, prompt{tokens: ids})
	case json.Unmarshal(raw, &lists) == nil:
		for _, l := range lists {
			out = append(out, prompt{tokens: l})
		}
	}
	if len(out) == 0 {
		return nil, badRequest("prompt",
			"prompt must be a string, a list of strings, token ids, or a list of lists of them")
	}
	return out, nil
}

// earlier returns p without its last n tokens: the prompt that an answer began with before it had to be continued.
func (p prompt) earlier(t codec, n int) prompt {
	keep := len(p.tokens) - n
	length := 0
	pieces, _ := t.pieces(p.text)
	for _, piece := range pieces[:min(keep, len(pieces))] {
		length += len(piece)
	}
	return prompt{p.text[:min(length, len(p.text))], p.tokens[:keep]}
}
