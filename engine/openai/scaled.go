package openai

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"octet/engine"
)

// Scaled is an adapter that an engine has had since it began, as llama.cpp lists them: requests say by its number how
// much of it they want.
type Scaled struct {
	ID    int     `json:"id"`
	Path  string  `json:"path"`
	Scale float64 `json:"scale"` // for requests that say nothing
}

// Scaled returns the adapters of an engine that loads none later; ErrUnsupported where it loads them when it is told
// to.
func (c *Client) Scaled(ctx context.Context) ([]Scaled, error) {
	body, err := c.ask(ctx, "GET", c.paths.Adapters, nil, maxAnswer)
	if err != nil {
		return nil, err
	}
	var list []Scaled
	if err := readAnswer(body, &list); err != nil {
		return nil, fmt.Errorf("%w: adapters: %w", engine.ErrProtocol, err)
	}
	return list, nil
}

// Scale sets how much of each adapter requests have that say nothing. An adapter that is not in the list has none.
func (c *Client) Scale(ctx context.Context, list []Scaled) error {
	type scale struct {
		ID    int     `json:"id"`
		Scale float64 `json:"scale"`
	}
	all := make([]scale, len(list))
	for i, s := range list {
		all[i] = scale{s.ID, s.Scale}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRequest, err)
	}
	_, err = c.ask(ctx, "POST", c.paths.Adapters, body, maxAnswer)
	return err
}
