package handover

import (
	"encoding/json"
	"fmt"
	"slices"

	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
)

// tokenize asks for the prompt's token ids, in the form that vLLM and SGLang take.
func (p *Protocol) tokenize(h *ensemble.Hop) error {
	if !h.Replica.Kind.TokenizesChats {
		return fmt.Errorf("%w: %s engines do not tokenize chats", routing.ErrNotTried, h.Replica.Kind.Name)
	}
	body := map[string]json.RawMessage{"model": wire.AppendQuoted(nil, h.Replica.Model)}
	for _, name := range []string{"prompt", "messages", "tools", "add_generation_prompt", "continue_final_message"} {
		if raw := h.Client.Raw(name); raw != nil {
			body[name] = raw
		}
	}
	if prompt := body["prompt"]; prompt != nil && prompt[0] != '"' {
		return fmt.Errorf("%w: the prompt is tokens already, or several", routing.ErrNotTried)
	}
	h.Path, h.Stream, h.NoPlace = h.Replica.Kind.Paths.Tokenize, false, true
	var err error
	h.Body, err = json.Marshal(body)
	return err
}

// tokenized keeps the token ids that h's replica has answered.
func (p *Protocol) tokenized(h *ensemble.Hop, tokens []json.Number) error {
	if len(tokens) == 0 {
		return fmt.Errorf("%s: no tokens", h.Step.Name)
	}
	p.tokens, h.PromptTokens = []byte{'['}, len(tokens)
	for i, t := range tokens {
		if i > 0 {
			p.tokens = append(p.tokens, ',')
		}
		p.tokens = append(p.tokens, t...)
	}
	p.tokens = append(p.tokens, ']')
	return nil
}

// useTokens replaces the text of a completion's only prompt by the token ids of an earlier step, if there are any.
func (p *Protocol) useTokens(h *ensemble.Hop) {
	if prompt := h.Client.Raw("prompt"); p.tokens != nil && len(prompt) > 0 && prompt[0] == '"' {
		h.Edits = append(h.Edits, wire.Edit{Key: "prompt", Raw: p.tokens})
	}
}

// isList returns true if a prompt, as JSON, is a list of prompts: one that begins with a number is one prompt of token
// ids.
func isList(prompt []byte) bool {
	if len(prompt) < 2 || prompt[0] != '[' {
		return false
	}
	i := slices.IndexFunc(prompt[1:], func(c byte) bool { return c > ' ' })
	return i < 0 || prompt[1+i] < '0' || prompt[1+i] > '9'
}
