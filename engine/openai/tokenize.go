package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// Tokenize appends to dst the token ids that the engine's own tokenizer gives for body, a request in the engine's
// terms: vLLM and SGLang take {"model","prompt"} or {"model","messages"}, llama.cpp {"content","add_special"}. On error
// dst comes back as it was.
func (c *Client) Tokenize(ctx context.Context, dst []uint32, body []byte) ([]uint32, error) {
	text, err := c.ask(ctx, "POST", c.paths.Tokenize, body, maxTokens)
	if err != nil {
		return dst, err
	}
	ids, err := appendTokens(dst, text)
	if err != nil {
		return dst, fmt.Errorf("%w: tokenize: %w", engine.ErrProtocol, err)
	}
	return ids, nil
}

// ApplyTemplate returns the prompt that a llama.cpp server makes of a chat request's messages.
func (c *Client) ApplyTemplate(ctx context.Context, body []byte) (string, error) {
	text, err := c.ask(ctx, "POST", c.paths.Template, body, maxTokens)
	if err != nil {
		return "", err
	}
	var answer struct {
		Prompt *string `json:"prompt"`
	}
	if err := readAnswer(text, &answer); err != nil || answer.Prompt == nil {
		return "", fmt.Errorf("%w: apply-template: %w", engine.ErrProtocol, errors.Join(errNoPrompt, err))
	}
	return *answer.Prompt, nil
}

// ContentQuestion is what Tokenize asks a llama.cpp server for the tokens that a prompt is computed as.
func ContentQuestion(prompt string) []byte {
	quoted, _ := jsontext.AppendQuote(nil, prompt) // what is no UTF-8 is replaced, as the engine does
	return append(append([]byte(`{"add_special":true,"parse_special":true,"content":`), quoted...), '}')
}

var (
	errNoPrompt = errors.New("no prompt in the answer")
	errNoTokens = errors.New("no list of token ids in the answer")
	errTokenID  = errors.New("a token id is not a number of 32 bits")
)

// appendTokens appends the ids of the member "tokens" of a JSON object, which is there once. What else is in it is
// checked to be JSON and dropped.
func appendTokens(dst []uint32, text []byte) ([]uint32, error) {
	found := 0
	err := members(text, func(name string, value jsontext.Value) (err error) {
		if name == "tokens" {
			found++
			dst, err = appendIDs(dst, value)
		}
		return err
	})
	if err == nil && found != 1 {
		err = errNoTokens
	}
	return dst, err
}

// appendIDs reads a list that is known to be JSON: as an id takes decimal digits only, whatever stands between digits
// and is not a comma or white space makes it something else.
func appendIDs(dst []uint32, list []byte) ([]uint32, error) {
	if list[0] != '[' {
		return nil, errNoTokens
	}
	commas := bytes.Count(list, []byte{','})
	if commas >= maxIDs {
		return nil, fmt.Errorf("%w: more than %d token ids", engine.ErrTooLarge, maxIDs)
	}
	dst = slices.Grow(dst, commas+1)
	var id uint64
	digits := 0
	for _, c := range list[1:] {
		switch {
		case '0' <= c && c <= '9' && digits < 10:
			id, digits = id*10+uint64(c-'0'), digits+1
		case c == ',' || c == ']':
			if id > 1<<32-1 {
				return nil, errTokenID
			}
			if digits > 0 {
				dst = append(dst, uint32(id))
			}
			id, digits = 0, 0
		case c != ' ' && c != '\n' && c != '\r' && c != '\t':
			return nil, errTokenID
		}
	}
	return dst, nil
}
