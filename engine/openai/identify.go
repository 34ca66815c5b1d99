package openai

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// Identity is what an engine says of itself.
type Identity struct {
	Kind  string       // the name of its kind; engine.Generic if nothing tells it
	Sure  bool         // it names itself, so a declared kind other than Kind is wrong
	Limit int          // tokens of prompt and answer together; 0 where it does not say
	Doors engine.Doors // that it serves beside chat completions, of those that its kind may
	// Revision is which weights it serves, as far as it says; "" if it does not.
	Revision string
}

// Identify asks an engine what it is and how long its context for the model is: the owner in its model list, else the
// names of its metrics, else the paths that only one kind has; which doors it serves, and which weights. At most nine
// questions; an error where the engine cannot be reached.
func (c *Client) Identify(ctx context.Context, model string) (Identity, error) {
	list, err := c.Models(ctx)
	if err != nil && !answered(err) {
		return Identity{}, err
	}
	id := Identity{Kind: engine.Generic, Limit: limitOf(list, model)}
	owner := ownerOf(list)
	if kind, ok := c.kindWith(func(m *engine.Marks) bool { return m.Owner != "" && m.Owner == owner }); ok {
		id.Kind, id.Sure = kind, true
	} else if owner == emulated { // plays every kind, and sends what vLLM sends unless it is told otherwise
		id.Kind = engine.Default
	} else if id.Kind, id.Sure, err = c.kindByPaths(ctx); err != nil {
		return Identity{}, err
	}
	kind, _ := c.kinds.Named(id.Kind)
	id.Doors = c.doors(ctx, kind.Served.Doors)
	if kind.Paths.Slots != "" {
		if id.Limit, err = c.slotContext(ctx, kind.Paths.Slots); err != nil {
			return id, err
		}
	}
	id.Revision, err = c.revision(ctx, &kind.Revision, list, model)
	return id, err
}

// doors returns those of the doors that may be served that the engine does serve. A door takes POST alone: that, and
// not that there is no such path, is what it says to a GET.
func (c *Client) doors(ctx context.Context, may engine.Doors) (served engine.Doors) {
	engine.DoorPaths(may, func(door engine.Doors, path string) {
		if there, err := c.takes(ctx, path); err == nil && there {
			served |= door
		}
	})
	return served
}

// takes returns true if the engine says to a GET that the path takes another method.
func (c *Client) takes(ctx context.Context, path string) (bool, error) {
	_, err := c.ask(ctx, "GET", path, nil, maxAnswer)
	var said *StatusError
	if errors.As(err, &said) {
		return said.Status == 405, nil
	}
	return false, err
}

// answered returns true if err is about an answer of the engine's that was only not what was asked for. An engine that
// is loading, which 503 says, has not answered yet.
func answered(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status != 503
	}
	return errors.Is(err, engine.ErrProtocol)
}

// emulated is the owner that emulated engines name. A gateway of ours names it too, and lists a model of that name.
const emulated = "octet"

// ownerOf returns the first owner in a model list; empty for a gateway of ours and where none is named.
func ownerOf(list []Model) string {
	owner := ""
	for _, m := range list {
		if m.ID == emulated {
			return ""
		}
		if owner == "" {
			owner = m.OwnedBy
		}
	}
	return owner
}

// limitOf returns the context that a model list gives for a model, or for the only one that it gives any for.
func limitOf(list []Model, model string) int {
	limit := 0
	for _, m := range list {
		if m.ID == model {
			return m.MaxModelLen
		}
		limit = max(limit, m.MaxModelLen)
	}
	return limit
}

// kindByPaths looks for what only one kind of engine has.
func (c *Client) kindByPaths(ctx context.Context) (kind string, sure bool, err error) {
	metrics, err := c.ask(ctx, "GET", "/metrics", nil, maxMetrics)
	if err != nil && !answered(err) {
		return "", false, err
	}
	for line := range bytes.Lines(metrics) {
		begins := func(m *engine.Marks) bool { return m.Metrics != "" && bytes.HasPrefix(line, []byte(m.Metrics)) }
		if kind, ok := c.kindWith(begins); ok {
			return kind, true, nil
		}
	}
	for _, k := range c.kinds {
		for _, m := range k.Marks.Paths {
			body, err := c.ask(ctx, "GET", m.Path, nil, maxAnswer)
			if err != nil && !answered(err) {
				return "", false, err
			}
			if hasMember(body, m.Member) {
				return k.Name, !m.Shared, nil
			}
		}
	}
	return engine.Generic, false, nil
}

// kindWith returns the name of the first kind whose marks fit, and false if none do.
func (c *Client) kindWith(fits func(*engine.Marks) bool) (kind string, ok bool) {
	for _, k := range c.kinds {
		if fits(&k.Marks) {
			return k.Name, true
		}
	}
	return "", false
}

// hasMember reports whether body is a JSON object with a member of that name.
func hasMember(body []byte, name string) bool {
	found := false
	err := members(body, func(member string, _ jsontext.Value) error {
		found = found || member == name
		return nil
	})
	return err == nil && found
}

// slotContext returns the context of one of llama.cpp's slots, which is what a request may fill; 0 where it does not
// say.
func (c *Client) slotContext(ctx context.Context, path string) (int, error) {
	body, err := c.ask(ctx, "GET", path, nil, maxAnswer)
	if err != nil {
		if answered(err) {
			return 0, nil
		}
		return 0, err
	}
	var props struct {
		Defaults struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Context int `json:"n_ctx"`
	}
	if readAnswer(body, &props) != nil {
		return 0, nil
	}
	if props.Defaults.Context > 0 {
		return props.Defaults.Context, nil
	}
	return max(props.Context, 0), nil
}

// probePath returns where health is asked, and where it is asked of an engine that does not know that path; empty for
// none.
func (c *Client) probePath() (path, otherwise string) {
	if c.kind == engine.Auto && c.health == "" {
		return c.paths.Health, engine.ModelsPath
	}
	return c.paths.Health, ""
}
