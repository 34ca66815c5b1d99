package openai

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// ErrUnsupported means that this kind of engine, or this engine as it was started, does not offer what was asked.
var ErrUnsupported = errors.New("openai: not offered by the engine")

// StatusError is an answer other than 200 to a question of ours.
type StatusError struct {
	Status  int
	Message string // the engine's own words, at most 200 bytes of them; may be empty
	Object  bool   // the words stand in an error object: what serves the path has answered, not what serves HTTP
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("openai: the engine answered with status %d: %s", e.Status, e.Message)
}

// Unwrap says ErrUnsupported where the status does.
func (e *StatusError) Unwrap() error {
	if e.Status == 404 || e.Status == 405 || e.Status == 501 {
		return ErrUnsupported
	}
	return nil
}

// Probe returns nil when the engine says that it is healthy: status 200 of its health path. Otherwise a *StatusError,
// or why there was no answer.
func (c *Client) Probe(ctx context.Context) error {
	path, otherwise := c.probePath()
	_, err := c.ask(ctx, "GET", path, nil, maxAnswer)
	if otherwise != "" && errors.Is(err, ErrUnsupported) {
		_, err = c.ask(ctx, "GET", otherwise, nil, maxAnswer)
	}
	return err
}

// Model is one entry of an engine's model list.
type Model struct {
	ID          string `json:"id"`
	Root        string `json:"root"`          // where its weights come from, as vLLM says: the path of an adapter
	Parent      string `json:"parent"`        // of an adapter: the model that it adapts
	MaxModelLen int    `json:"max_model_len"` // tokens; 0 when the engine does not say
	OwnedBy     string `json:"owned_by"`      // vLLM, SGLang and llama.cpp name themselves
	Status      Status `json:"status"`
	Meta        Meta   `json:"meta"`
}

// Status is whether a model is loaded, as llama.cpp says where it serves many.
type Status struct {
	Value string `json:"value"` // "loaded", "loading" or "unloaded"; empty when the engine does not say
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. What others put there is left alone.
func (s *Status) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	var said struct {
		Value string `json:"value"`
	}
	if readAnswer(value, &said) == nil {
		s.Value = said.Value
	}
	return nil
}

// Meta is what llama.cpp says of a model.
type Meta struct {
	Bytes int64 `json:"size"` // of its weights; 0 when the engine does not say
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. What others put there is left alone.
func (m *Meta) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	var said struct {
		Size int64 `json:"size"`
	}
	if readAnswer(value, &said) == nil {
		m.Bytes = said.Size
	}
	return nil
}

// Models returns what the engine serves, adapters included, in the engine's order.
func (c *Client) Models(ctx context.Context) ([]Model, error) {
	body, err := c.ask(ctx, "GET", engine.ModelsPath, nil, maxAnswer)
	if err != nil {
		return nil, err
	}
	var list struct {
		Data modelList `json:"data"`
	}
	if err := readAnswer(body, &list); err != nil {
		return nil, fmt.Errorf("%w: model list: %w", engine.ErrProtocol, err)
	}
	return list.Data, nil
}

// ask sends one question and returns the whole answer, if its status is 200 and it is at most limit bytes long.
func (c *Client) ask(ctx context.Context, method, path string, body []byte, limit int) ([]byte, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: %s", ErrUnsupported, c.kind)
	}
	r := &engine.Request{Method: method, Path: path}
	if body != nil {
		r.Segments = [][]byte{body}
	}
	resp, err := c.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Close()
	text, err := readAll(resp, limit)
	if err == nil && resp.Status() != 200 {
		err = statusError(resp.Status(), text)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// readAll returns the whole body; ErrTooLarge when it is longer than limit.
func readAll(resp engine.Response, limit int) (body []byte, err error) {
	err = engine.Read(resp, engine.Each(func(piece []byte) error {
		if len(body)+len(piece) > limit {
			return fmt.Errorf("%w: answer over %d bytes", engine.ErrTooLarge, limit)
		}
		body = append(body, piece...)
		return nil
	}))
	return body, err
}

// statusError reads what the body of an error says: engines nest it in "error", or not, or send plain text.
func statusError(status int, body []byte) *StatusError {
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Message string `json:"message"`
	}
	if readAnswer(body, &said) == nil {
		message := said.Error.Message + said.Message
		return &StatusError{status, message[:min(len(message), maxMessage)], message != ""}
	}
	return &StatusError{Status: status, Message: string(body[:min(len(body), maxMessage)])}
}
