package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"octet/engine/emulator"
	"octet/gateway/apierr"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
)

// secondThoughts is a pattern that the gateway does not know: one replica drafts, another answers with the draft before
// it.
type secondThoughts struct {
	draft string
	seen  int           // whole events of the answer
	steps *atomic.Int32 // that were executed
}

// Request implements ensemble.Protocol: the draft is another request (mutation), the answer has the draft in it
// (injection).
func (p *secondThoughts) Request(h *ensemble.Hop) error {
	p.steps.Add(1)
	if h.Step.Name == "draft" {
		h.Stream = false
		h.Edits = append(h.Edits, wire.Edit{Key: "stream", Raw: []byte("false")},
			wire.Edit{Key: "max_tokens", Raw: []byte("5")})
		return nil
	}
	messages := bytes.TrimSuffix(h.Client.Raw("messages"), []byte("]"))
	turn, err := json.Marshal(map[string]string{"role": "assistant", "content": p.draft})
	h.Edits = append(h.Edits,
		wire.Edit{Key: "messages", Raw: append(append(bytes.Clone(messages), ','), append(turn, ']')...)})
	return err
}

// Answer implements ensemble.Protocol.
func (p *secondThoughts) Answer(_ *ensemble.Hop, body []byte) error {
	p.draft = contentOf("unary", body)
	return nil
}

// Events implements ensemble.Protocol: the stream passes through here on its way to the client.
func (p *secondThoughts) Events(events []byte) []byte {
	if p.seen++; p.seen == 1 {
		return append([]byte(": thought over\n\n"), events...)
	}
	return events
}

// Forget implements ensemble.Protocol.
func (p *secondThoughts) Forget() bool { return false }

// rethinking is a pipeline whose steps draft and then answer.
type rethinking struct {
	ensemble.Pipeline
	steps *atomic.Int32 // that were executed
}

// Protocol implements ensemble.Pipeline.
func (r rethinking) Protocol(int) ensemble.Protocol { return &secondThoughts{steps: r.steps} }

// MOD3-45, MOD3-47: a new pattern is a Workflow and the Protocol of its steps. The handlers are as they were.
func TestANewPatternNeedsNoNewHandler(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	rt := *w.App.Server().Runtime()
	rt.Specialists = slices.Clone(rt.Specialists)
	for i, served := range rt.Specialists { // Seal writes to them, and the ones in force are read
		copied := *served
		rt.Specialists[i] = &copied
	}
	sp := rt.Specialists[0]
	var executed atomic.Int32
	workflow, err := routing.NewFlow(routing.Leg{Name: "draft", Selector: selectorOf(sp.Workflow)},
		routing.Leg{Name: "answer", Selector: selectorOf(sp.Workflow)})
	if err != nil {
		t.Fatal(err)
	}
	sp.Workflow = workflow
	sp.Pipeline = rethinking{sp.Pipeline, &executed}
	w.App.Server().Serve(rt.Seal())

	for range 2 {
		body := strings.Replace(streamed(hello), "{", `{"stream_options":{"include_usage":true},`, 1)
		resp, answer := w.Post("/v1/chat/completions", body, "X-Request-Id", "pattern")
		s := readStream(bytes.NewReader(answer))
		if !bytes.HasPrefix(answer, []byte(": thought over")) || s.text != indexText("pattern", 12) || !s.done {
			t.Errorf("stream %+v", s)
		}
		r := w.receipt(resp)
		if a := attempts(r); a != "draft:debug-0=ok, answer:debug-0=ok" {
			t.Errorf("attempts %s", a)
		}
		// the question is 12 tokens or so; the draft's five and their turn come on top
		if r.Result.PromptTokens < r.Prompt.Tokens+5 {
			t.Errorf("the answer's prompt has %d tokens, the client's %d: no draft in it", r.Result.PromptTokens,
				r.Prompt.Tokens)
		}
	}
	if n := executed.Load(); n != 4 {
		t.Errorf("%d steps executed", n)
	}
	w.Fault("debug-0", `{"kind":"error_event","times":0}`)
	w.Fault("debug-1", `{"kind":"error_event","times":0}`)
	resp, answer := w.Post("/v1/chat/completions", hello)
	checkError(t, resp, answer, 502, apierr.UpstreamReset, "")
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// completionText is the text of a unary completion.
func completionText(answer []byte) string {
	var c struct{ Choices []struct{ Text string } }
	if err := json.Unmarshal(answer, &c); err != nil || len(c.Choices) != 1 {
		return ""
	}
	return c.Choices[0].Text
}

// selectorOf has a workflow of one step select for a step of another.
func selectorOf(w routing.Workflow) routing.Selector { return selecting{w} }

type selecting struct{ routing.Workflow }

func (s selecting) Select(ctx context.Context, c *routing.Context) (routing.Decision, error) {
	p, err := s.Plan(ctx, c)
	if err != nil {
		return routing.Decision{}, err
	}
	return routing.Decision{Role: p.Steps[0].Role, Ranked: p.Steps[0].Ranked, Candidates: c.View().Candidates()}, nil
}

// three is halves with a replica that makes tokens of prompts for the others.
var three = strings.Replace(strings.Replace(halves, "workflow: disaggregated", "workflow: three-step", 1),
	"  - name: alone", `      - {url: "%s", name: t-0, blocks: 16, role: preprocess}
  - name: alone`, 1)

func threeEngines() []emulator.Config {
	all := halvesEngines()
	pre := all[0]
	pre.Name = "t-0"
	return append(all[:4:4], pre, all[4])
}

// MOD3-19, MOD3-40: three replicas, one after the other: tokens, keys and values, answer.
func TestThreeStepsGiveTheAnswerOfOne(t *testing.T) {
	w := newWorld(t, three, threeEngines())
	prompt := strings.Repeat("why does it crash ", 30)
	for i, fault := range []string{"", "t-0", "p-0"} {
		body := func(model string) string {
			return fmt.Sprintf(`{"model":%q,"max_tokens":20,"prompt":%q}`, model, fmt.Sprint(i, prompt))
		}
		_, want := w.Post("/v1/completions", body("alone"))
		attempted := "preprocess:t-0=ok, prefill:p-0=ok, decode:d-0=ok"
		switch fault {
		case "t-0":
			w.Engines["t-0"].Kill()
			attempted = "preprocess:t-0=upstream_reset, prefill:p-0=ok, decode:d-0=ok"
		case "p-0":
			w.Fault("p-0", `{"kind":"die_after_headers"}`)
			attempted = "preprocess:t-0=upstream_reset, prefill:p-0=upstream_reset, prefill:p-1=ok, decode:d-0=ok"
		}
		resp, got := w.Post("/v1/completions", body("debug"))
		if resp.StatusCode != 200 || completionText(got) != completionText(want) || completionText(want) == "" {
			t.Errorf("%s by three, %s by one", got, want)
		}
		if a := attempts(w.receipt(resp)); a != attempted {
			t.Errorf("attempts %s, want %s", a, attempted)
		}
	}
	got, resp := w.says("streamed", long("debug", "chat", ""))
	if want, _ := w.says("streamed", long("alone", "chat", "")); got != want {
		t.Errorf("%q by three, %q by one", got, want)
	}
	if r := w.receipt(resp); len(r.Routing) != 3 || r.Routing[0].Step != "preprocess" {
		t.Errorf("routing %+v", r.Routing)
	}
	w.baseline()
}
