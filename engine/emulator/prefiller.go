package emulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// prefillerField is the header in which a gateway names, as host:port, the engine that is to compute the prompt. This
// one then has it computed there, fetches it and goes on: what llm-d's routing sidecar does for a decode engine.
const prefillerField = "X-Prefiller-Host-Port"

// obtain gets the prompt of a from the engine that computed it, or that is to compute it. Where the latter fails, in
// whatever way, the prompt is computed here.
func (e *Emulator) obtain(ctx context.Context, a *ask) error {
	if a.prefiller == "" {
		return e.receive(ctx, a)
	}
	err := e.prefillThere(ctx, a)
	if err == nil {
		e.metrics.prefilled.WithLabelValues("remote").Inc()
		return nil
	}
	a.body.Transfer, a.received = nil, nil
	e.metrics.prefilled.WithLabelValues("local").Inc()
	return ctx.Err()
}

// prefillThere has the engine at a.prefiller compute a's prompt, within cfg.PrefillerTimeout, and fetches it.
func (e *Emulator) prefillThere(ctx context.Context, a *ask) error {
	ctx, cancel := context.WithTimeout(ctx, e.cfg.PrefillerTimeout)
	defer cancel()
	r, err := a.forPrefiller(ctx)
	if err != nil {
		return err
	}
	resp, err := e.cfg.Client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d from the engine that was to compute the prompt", resp.StatusCode)
	}
	var said struct {
		Transfer *transfer `json:"kv_transfer_params"`
	}
	if err := decodeBody(resp.Body, &said); err != nil {
		return err
	}
	if !said.Transfer.fetches() {
		return errors.New("the engine that computed the prompt keeps nothing of it")
	}
	a.body.Transfer = said.Transfer
	return e.receive(ctx, a)
}

// forPrefiller is a's request to the engine that is to compute its prompt: the same, up to the first token.
func (a *ask) forPrefiller(ctx context.Context) (*http.Request, error) {
	if _, port, err := net.SplitHostPort(a.prefiller); err != nil || port == "" {
		return nil, fmt.Errorf("%s %q is no host and port", prefillerField, a.prefiller)
	}
	members := map[string]jsontext.Value{}
	if err := json.Unmarshal(a.raw, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"stream_options", "max_completion_tokens", "min_tokens", "best_of", "continue_from"} {
		delete(members, name)
	}
	for name, value := range map[string]string{"stream": "false", "max_tokens": "1", "n": "1",
		"kv_transfer_params": `{"do_remote_decode":true,"do_remote_prefill":false}`} {
		members[name] = jsontext.Value(value)
	}
	body, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+a.prefiller+a.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", a.id)
	if a.bearer != "" {
		r.Header.Set("Authorization", a.bearer)
	}
	r.Close = true // the peers are many and each is asked rarely
	return r, nil
}
