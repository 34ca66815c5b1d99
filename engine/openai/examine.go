package openai

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"octet/engine"
)

// Build returns which release the engine says that it is; "" if it does not say. An error where it cannot be reached.
func (c *Client) Build(ctx context.Context) (string, error) {
	kind, _ := c.kinds.Named(c.kind)
	told, err := c.weightsTold(ctx, &engine.Revision{Paths: kind.Build.Paths, Members: []string{kind.Build.Member}})
	if err != nil || len(told) == 0 {
		return "", err
	}
	return told[0][:min(len(told[0]), maxMessage)], nil
}

// LoadsAdapters returns true if the engine, as it was started, loads adapters while it runs. ErrUnsupported where its
// kind does not.
func (c *Client) LoadsAdapters(ctx context.Context) (bool, error) {
	if c.paths.LoadAdapter == "" {
		return false, fmt.Errorf("%w: %s", ErrUnsupported, c.kind)
	}
	return c.takes(ctx, c.paths.LoadAdapter)
}

// Ahead returns how far the clock of the engine's machine is ahead of ours, within a second or the time of the answer,
// whichever is more; ErrUnsupported where its answers have no date.
func (c *Client) Ahead(ctx context.Context) (time.Duration, error) {
	sent := time.Now()
	resp, err := c.Do(ctx, &engine.Request{Method: http.MethodGet, Path: engine.ModelsPath})
	if err != nil {
		return 0, err
	}
	defer resp.Close()
	took := time.Since(sent)
	date, err := http.ParseTime(resp.Header("Date"))
	if err != nil {
		return 0, fmt.Errorf("%w: a date", ErrUnsupported)
	}
	date = date.Add(time.Second / 2) // of which it has left off the fraction
	return date.Sub(sent.Add(took / 2)), nil
}

// Trial is a request for one token of an answer.
type Trial struct {
	Model, Prompt string
	Priority      int // as the engine has it; 0 is not sent
}

// Tried is what the engine says that a Trial took.
type Tried struct {
	Prompt int  // tokens
	Cached *int // of those, tokens that came from the cache; nil if it does not say
}

// Try sends a Trial. A *StatusError says that the engine refused it.
func (c *Client) Try(ctx context.Context, t Trial) (Tried, error) {
	body := map[string]any{"model": t.Model, "prompt": t.Prompt, "max_tokens": 1, "temperature": 0, "stream": false}
	if t.Priority != 0 {
		body["priority"] = t.Priority
	}
	kind, _ := c.kinds.Named(c.kind)
	if n, ranked := c.rank.Number(); ranked && kind.Ranks.Member != "" {
		body[kind.Ranks.Member] = n
	}
	asked, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return Tried{}, fmt.Errorf("%w: %w", ErrRequest, err)
	}
	text, err := c.ask(ctx, http.MethodPost, "/v1/completions", asked, maxAnswer)
	if err != nil {
		return Tried{}, err
	}
	var said struct {
		Usage struct {
			Prompt  int `json:"prompt_tokens"`
			Details struct {
				Cached *int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
		} `json:"usage"`
	}
	if err := readAnswer(text, &said); err != nil {
		return Tried{}, fmt.Errorf("%w: completion: %w", engine.ErrProtocol, err)
	}
	return Tried{said.Usage.Prompt, said.Usage.Details.Cached}, nil
}
