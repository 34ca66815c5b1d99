package openai

import (
	"context"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"octet/engine"
)

// maxRevision bounds what is kept of what an engine says of its weights, in bytes.
const maxRevision = 512

// Revision returns which weights the engine says that it serves for the model; "" if it does not say. Two answers are
// equal if nothing that tells weights has changed. An error where the engine cannot be reached.
func (c *Client) Revision(ctx context.Context, model string) (string, error) {
	kind, _ := c.kinds.Named(c.kind)
	var list []Model
	if kind.Revision.Listed {
		var err error
		if list, err = c.Models(ctx); err != nil && !answered(err) {
			return "", err
		}
	}
	return c.revision(ctx, &kind.Revision, list, model)
}

// revision joins what the engine tells at a kind's paths and in its list of models.
func (c *Client) revision(ctx context.Context, w *engine.Revision, list []Model, model string) (string, error) {
	told, err := c.weightsTold(ctx, w)
	if err != nil {
		return "", err
	}
	if w.Listed {
		told = append(told, listedWeights(list, model)...)
	}
	joined := strings.Join(told, "@")
	return joined[:min(len(joined), maxRevision)], nil
}

// weightsTold returns the members of the first of the kind's paths that answers with any of them.
func (c *Client) weightsTold(ctx context.Context, w *engine.Revision) ([]string, error) {
	for _, path := range w.Paths {
		body, err := c.ask(ctx, "GET", path, nil, maxAnswer)
		if err != nil && !answered(err) {
			return nil, err
		}
		if err != nil {
			continue
		}
		if told := membersOf(body, w.Members); len(told) > 0 {
			return told, nil
		}
	}
	return nil, nil
}

// membersOf returns the texts of those members of an object that are texts with something in them, in the order of
// names.
func membersOf(body []byte, names []string) (texts []string) {
	found := map[string]string{}
	err := members(body, func(name string, value jsontext.Value) error {
		if value.Kind() == '"' {
			text, err := jsontext.AppendUnquote(nil, value)
			found[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		return nil
	}
	for _, name := range names {
		if found[name] != "" {
			texts = append(texts, found[name])
		}
	}
	return texts
}

// listedWeights returns what a list of models says of the weights of a model, or of the only one that adapts no other.
func listedWeights(list []Model, model string) (told []string) {
	m := find(list, model)
	if m == nil {
		for i := range list {
			if list[i].Parent != "" {
				continue
			}
			if m != nil {
				return nil
			}
			m = &list[i]
		}
	}
	if m == nil {
		return nil
	}
	if m.Root != "" {
		told = append(told, m.Root)
	}
	if m.Meta.Bytes > 0 {
		told = append(told, strconv.FormatInt(m.Meta.Bytes, 10))
	}
	return told
}
