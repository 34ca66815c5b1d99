package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// Tokenize appends to dst the token ids that the engine's own tokenizer gives for body, a request in the engine's terms:
// vLLM and SGLang take {"model","prompt"} or {"model","messages"}, llama.cpp {"content","add_special"}. On error dst comes
// back as it was.
func (c *Client) Tokenize(ctx context.Context, dst []uint32, body []byte) ([]uint32, error) {
	text, err := c.ask(ctx, "POST", c.dialect.tokenize, body, maxTokens)
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
	text, err := c.ask(ctx, "POST", c.dialect.template, body, maxTokens)
	if err != nil {
		return "", err
	}
	var answer struct {
		Prompt *string `json:"prompt"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || answer.Prompt == nil {
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

// appendTokens appends the ids of the member "tokens" of a JSON object. What else is in it is checked to be JSON and
// dropped.
func appendTokens(dst []uint32, text []byte) ([]uint32, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, errors.Join(errNoTokens, err)
	}
	found := false
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		wanted := name.String() == "tokens" // before the next read, which voids it
		value, err := d.ReadValue()
		if err == nil && wanted {
			found = true
			dst, err = appendIDs(dst, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, errNoTokens
	}
	return dst, closes(d)
}

// closes reads the end of the object and makes sure that nothing follows it.
func closes(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errors.New("something follows the answer"), err)
	}
	return nil
}

// appendIDs reads a list that is known to be JSON: as an id takes decimal digits only, whatever stands between digits and
// is not a comma or white space makes it something else.
func appendIDs(dst []uint32, list []byte) ([]uint32, error) {
	if list[0] != '[' {
		return nil, errNoTokens
	}
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
