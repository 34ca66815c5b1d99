package openai

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// Adapter is a LoRA adapter as an engine is told of it.
type Adapter struct {
	Name string // what requests put in "model"
	Path string // where the engine finds its weights
}

// ErrAdapter means that the engine could not do with the adapter what was asked of it.
var ErrAdapter = errors.New("openai: the engine refused the adapter")

// LoadAdapter makes the engine serve a. Loaded already, from the same path as far as the engine says, is success.
// ErrAdapter where the engine will not have this one; ErrUnsupported where adapters cannot be loaded at run time.
func (c *Client) LoadAdapter(ctx context.Context, a Adapter) error {
	err := c.tell(ctx, c.paths.LoadAdapter, map[string]string{"lora_name": a.Name, "lora_path": a.Path})
	if !refuses(err) {
		return err
	}
	if m, served := c.serves(ctx, a.Name); served && (m.Root == "" || m.Root == a.Path) {
		return nil
	}
	return fmt.Errorf("%w: loading %s: %s", ErrAdapter, a.Name, err.Error()) // a 404 among them is no ErrUnsupported
}

// UnloadAdapter makes the engine forget the adapter. Not loaded in the first place is success.
func (c *Client) UnloadAdapter(ctx context.Context, name string) error {
	err := c.tell(ctx, c.paths.UnloadAdapter, map[string]string{"lora_name": name})
	if !refuses(err) {
		return err
	}
	models, listErr := c.Models(ctx)
	if listErr == nil && find(models, name) == nil {
		return nil
	}
	return fmt.Errorf("%w: unloading %s: %s", ErrAdapter, name, err.Error())
}

// tell posts an order. SGLang says in the body whether it was carried out, vLLM by the status alone.
func (c *Client) tell(ctx context.Context, path string, order map[string]string) error {
	body, err := json.Marshal(order, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	text, err := c.ask(ctx, "POST", path, body, maxAnswer)
	if err != nil {
		return err
	}
	verdict := struct {
		Success *bool `json:"success"`
	}{}
	if readAnswer(text, &verdict) == nil && verdict.Success != nil && !*verdict.Success {
		return statusError(400, text)
	}
	return nil
}

// refuses reports whether err is an engine's answer about the adapter itself. vLLM says with a 404 that it finds no
// such adapter; where it was started without loading at run time there is nothing at the path, and its HTTP
// server says so.
func refuses(err error) bool {
	var answer *StatusError
	if !errors.As(err, &answer) {
		return false
	}
	return answer.Status == 400 || answer.Status == 404 && answer.Object && answer.Message != "Not Found"
}

func (c *Client) serves(ctx context.Context, name string) (Model, bool) {
	models, err := c.Models(ctx)
	if m := find(models, name); err == nil && m != nil {
		return *m, true
	}
	return Model{}, false
}

func find(models []Model, id string) *Model {
	for i := range models {
		if models[i].ID == id {
			return &models[i]
		}
	}
	return nil
}
