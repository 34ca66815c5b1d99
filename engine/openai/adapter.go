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
// ErrUnsupported where adapters cannot be loaded at run time.
func (c *Client) LoadAdapter(ctx context.Context, a Adapter) error {
	err := c.tell(ctx, c.paths.LoadAdapter, map[string]string{"lora_name": a.Name, "lora_path": a.Path})
	if !refused(err, 400) {
		return err
	}
	if m, served := c.serves(ctx, a.Name); served && (m.Root == "" || m.Root == a.Path) {
		return nil
	}
	return fmt.Errorf("%w: loading %s: %w", ErrAdapter, a.Name, err)
}

// UnloadAdapter makes the engine forget the adapter. Not loaded in the first place is success.
func (c *Client) UnloadAdapter(ctx context.Context, name string) error {
	err := c.tell(ctx, c.paths.UnloadAdapter, map[string]string{"lora_name": name})
	if !refused(err, 400) && !refused(err, 404) {
		return err
	}
	models, listErr := c.Models(ctx)
	if listErr == nil && find(models, name) == nil {
		return nil
	}
	return fmt.Errorf("%w: unloading %s: %w", ErrAdapter, name, err)
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
		return &StatusError{Status: 400, Message: errorMessage(text)}
	}
	return nil
}

func refused(err error, status int) bool {
	var answer *StatusError
	return errors.As(err, &answer) && answer.Status == status
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
