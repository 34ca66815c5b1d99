package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"octet/engine"
)

// Standing is what an engine that is healthy says of itself and a model. The zero Standing serves it.
type Standing struct {
	Asleep  bool // the model is put aside
	Loading bool // the model is not loaded yet
	Absent  bool // other models are served, and not this one
}

// Standing asks a healthy engine whether it serves a model now: whether it sleeps, and, where the kind's list of models
// tells, whether the model is there and loaded. What the engine does not say counts for nothing. An error says that
// there was no answer, or none that can be read.
func (c *Client) Standing(ctx context.Context, model string) (Standing, error) {
	asleep, err := c.asleep(ctx)
	if err != nil || asleep || c.lists == engine.ListsAny {
		return Standing{Asleep: asleep}, err
	}
	list, err := c.Models(ctx)
	if err != nil {
		if answered(err) {
			err = nil // an engine without a list says nothing
		}
		return Standing{}, err
	}
	entry := find(list, model)
	if c.lists == engine.ListsStanding {
		if entry == nil {
			return Standing{}, nil // any name is taken by a server of one model
		}
		return Standing{Asleep: entry.Status.Value == "unloaded", Loading: entry.Status.Value == "loading"}, nil
	}
	return Standing{Absent: entry == nil && len(list) > 0}, nil
}

// Away has the engine asked again what it did not offer: it may be another by then.
func (c *Client) Away() { c.sleepless.Store(false) }

// TellsSleep returns true if the engine says whether it sleeps, as far as is known.
func (c *Client) TellsSleep() bool {
	return c.lists == engine.ListsStanding || c.paths.Asleep != "" && !c.sleepless.Load()
}

// asleep asks whether the engine sleeps. Engines that do not say are not asked again until Away.
func (c *Client) asleep(ctx context.Context) (bool, error) {
	if c.paths.Asleep == "" || c.sleepless.Load() {
		return false, nil
	}
	body, err := c.ask(ctx, "GET", c.paths.Asleep, nil, maxAnswer)
	if errors.Is(err, ErrUnsupported) {
		c.sleepless.Store(true)
		return false, nil
	}
	if err != nil {
		if answered(err) {
			err = nil
		}
		return false, err
	}
	var said struct {
		Asleep bool `json:"is_sleeping"`
	}
	if readAnswer(body, &said) != nil {
		return false, nil
	}
	return said.Asleep, nil
}

// Sleep asks the engine to put its model aside. ErrUnsupported where it does not offer that.
func (c *Client) Sleep(ctx context.Context, model string) error {
	return c.order(ctx, c.paths.Sleep, model)
}

// Wake asks the engine to take its model up again, at a path; empty is its kind's own.
func (c *Client) Wake(ctx context.Context, path, model string) error {
	if path == "" {
		path = c.paths.Wake
	}
	return c.order(ctx, path, model)
}

// order posts an order to a path. Any status of success is one, and the answer's body is not read for more than a
// refusal.
func (c *Client) order(ctx context.Context, path, model string) error {
	order := map[string]string{}
	if c.lists == engine.ListsStanding {
		order["model"] = model
	}
	err := c.tell(ctx, path, order)
	var said *StatusError
	if errors.As(err, &said) && said.Status > http.StatusOK && said.Status < http.StatusMultipleChoices {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// IsLoading returns true if err is an engine's answer that its model is not loaded yet, as llama.cpp gives it.
func IsLoading(err error) bool {
	var said *StatusError
	return errors.As(err, &said) && said.Status == http.StatusServiceUnavailable &&
		strings.Contains(strings.ToLower(said.Message), "loading")
}
