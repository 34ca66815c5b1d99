package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/receipt"
	"octet/slo"
)

// judgedWorld is three specialists that stand in for one another: debug, then systems, then none.
const judgedWorld = `
auth: {anonymous: true, anonymous_limits: {priority_max: 100}}
specialists:
  - name: debug
    tokenizer: builtin
    fallback: systems
    slo: {correctness: {floor: 0.9, min_samples: 10, recover_for: 1s, probe_share: 1}}
    replicas: [{url: "%s", blocks: 512}]
  - name: systems
    tokenizer: builtin
    slo: {correctness: {floor: 0.9, min_samples: 10, recover_for: 1s}}
    replicas: [{url: "%s", blocks: 512}]
`

func judgedEngines() []emulator.Config {
	return []emulator.Config{
		{Name: "debug-0", Model: "debug", Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000},
		{Name: "systems-0", Model: "systems", Blocks: 512, Step: time.Millisecond, PrefillTPS: 200000},
	}
}

// newJudgedWorld is judgedWorld, asked by a tenant that judges.
func newJudgedWorld(t *testing.T, sets ...string) *world {
	t.Helper()
	w := newWorld(t, judgedWorld, judgedEngines(), keyed(sets...)...)
	w.Key = key
	return w
}

// answered asks for an answer and returns its receipt and head.
func (w *world) answered(body string, headers ...string) (string, *http.Response) {
	w.T.Helper()
	resp, answer := w.Post("/v1/chat/completions", body, headers...)
	if resp.StatusCode != 200 {
		w.T.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	return resp.Header.Get("X-Receipt-Id"), resp
}

// judge posts a verdict and returns whether it counted.
func (w *world) judge(receipt string, pass bool) bool {
	w.T.Helper()
	resp, answer := w.Post("/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":"compile","pass":%v}`, receipt, pass))
	var said struct{ Counted bool }
	if err := json.Unmarshal(answer, &said); err != nil || resp.StatusCode != 200 {
		w.T.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	return said.Counted
}

// demote has a specialist's answers judged to be wrong until another specialist answers.
func (w *world) demote(name string) {
	w.T.Helper()
	body := fmt.Sprintf(`{"model":%q,"max_tokens":2,"messages":[{"role":"user","content":"x"}]}`, name)
	for range 10 {
		id, _ := w.answered(body)
		if !w.judge(id, false) || w.judge(id, true) {
			w.T.Fatal("a verdict counts once")
		}
	}
}

// MEGA-59, MEGA-60, MEGA-66: the breaker is the request path's own. The house has no dashboard and nothing that
// watches.
//
//nolint:lll // raw text that cannot be broken
func TestADemotedSpecialistIsStoodInForUntilItsProbesAreGood(t *testing.T) {
	w := newJudgedWorld(t)
	w.demote("debug")
	id, resp := w.answered(hello)
	if by, who := resp.Header.Get("X-Routed-By"), resp.Header.Get("X-Specialist"); by != "fallback" ||
		who != "systems" {
		t.Errorf("answered by %s, routed by %s", who, by)
	}
	var r receipt.Receipt
	w.Get(w.Data+"/v1/receipts/"+id, &r)
	if r.Decision.Demoted != "debug" || r.Decision.Probe != "debug" || r.Result.Specialist != "systems" {
		t.Errorf("receipt: %+v", r.Decision)
	}
	before := w.App.Server().Runtime().Specialist("systems").Board.Report().Correctness.Samples
	if !w.judge(id, true) || w.App.Server().Runtime().Specialist("systems").Board.Report().Correctness.Samples != before+1 {
		t.Error("the verdict is the stand-in's, who answered")
	}
	w.recover(t, "debug")
	eventually(t, "debug to answer again", func() bool {
		_, resp := w.answered(hello)
		return resp.Header.Get("X-Specialist") == "debug" && resp.Header.Get("X-Routed-By") == "model"
	})
}

// recover judges probes of a demoted specialist as good.
func (w *world) recover(t *testing.T, name string) {
	t.Helper()
	board := w.App.Server().Runtime().Specialist(name).Board
	for range 10 {
		board.Outcome(slo.Verdict{Answered: time.Now(), Pass: true})
	}
	var state struct {
		Specialists map[string]struct{ Correctness slo.BreakerState }
	}
	w.Get(w.Admin+"/admin/breakers", &state)
	if c := state.Specialists[name].Correctness; c.Standing != "shadow-only" || c.Samples != 10 ||
		c.RecoversAt.IsZero() {
		t.Errorf("on its way back: %+v", c)
	}
}

// MEGA-60: where no specialist is left to stand in the answer is breaker_open, for the intent and the model alike.
func TestWhereAllAreDemotedTheBreakerIsOpen(t *testing.T) {
	w := newJudgedWorld(t, "intents.debug.specialist=debug")
	w.demote("systems")
	w.demote("debug")
	for name, body := range map[string]string{"model": hello,
		"intent": `{"max_tokens":2,"messages":[{"role":"user","content":"x"}]}`} {
		resp, answer := w.Post("/v1/chat/completions", body, "X-Intent", "debug")
		if resp.StatusCode != 503 || codeOf(t, answer) != "breaker_open" {
			t.Errorf("%s: status %d: %s", name, resp.StatusCode, answer)
		}
	}
}

func codeOf(t *testing.T, answer []byte) string {
	t.Helper()
	var e struct{ Error struct{ Code string } }
	if err := json.Unmarshal(answer, &e); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return e.Error.Code
}

// A refused request has a receipt and no answer: a verdict on it counts nowhere.
func TestVerdictsOnRequestsWithoutAnAnswerDoNotCount(t *testing.T) {
	w := newJudgedWorld(t)
	resp, _ := w.Post("/v1/chat/completions", hello, "X-Intent", "codegen", "X-Priority", "-100")
	if resp.StatusCode != 200 {
		t.Fatalf("status %d", resp.StatusCode)
	}
	if err := w.App.Knobs().Set("priority_floor.codegen", slo.Override{Value: 50}); err != nil {
		t.Fatal(err)
	}
	resp, answer := w.Post("/v1/chat/completions", hello, "X-Intent", "codegen")
	if resp.StatusCode != 429 || codeOf(t, answer) != "priority_floor" {
		t.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	if w.judge(resp.Header.Get("X-Receipt-Id"), false) {
		t.Error("it counted")
	}
}

// MEGA-63, MEGA-64, MEGA-65: what a load does is in the knobs, with who set it and why; an operator puts it back
// without a deploy.
func TestLoadShowsInTheKnobsAndYieldsToTheOperator(t *testing.T) {
	w := newJudgedWorld(t)
	w.App.Knobs().Adjust("escalation.debug", slo.Override{Value: 2, By: "escalation", Why: "a test"})
	w.App.Knobs().Adjust("load_floor.debug", slo.Override{Value: 10, By: "escalation", Why: "a test"})
	resp, answer := w.Post("/v1/chat/completions", hello)
	if resp.StatusCode != 429 || codeOf(t, answer) != "priority_floor" || resp.Header.Get("Retry-After") == "" {
		t.Errorf("status %d, retry after %q: %s", resp.StatusCode, resp.Header.Get("Retry-After"), answer)
	}
	if _, resp := w.answered(hello, "X-Priority", "10"); resp.Header.Get("X-Specialist") != "debug" {
		t.Error("a high priority was turned away")
	}
	var shown struct{ Knobs []slo.KnobState }
	w.Get(w.Admin+"/admin/knobs", &shown)
	seen := 0
	for _, k := range shown.Knobs {
		if k.Name == "load_floor.debug" && k.Value == 10 && k.Set != nil && k.Set.By == "escalation" &&
			k.Override == nil {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("knobs: %+v", shown)
	}
	if err := w.App.Knobs().Set("escalation.debug",
		slo.Override{Value: 0, By: "me", Until: time.Now().Add(time.Minute)}); err != nil {
		t.Fatal(err)
	}
	w.answered(hello)
}

// Where some tenants judge, the others' verdicts are refused.
func TestOnlyJudgesJudge(t *testing.T) {
	w := newWorld(t, judgedWorld+"outcomes: {tenants: [acme]}\n", judgedEngines(), tenants("auth.anonymous=true")...)
	id, _ := w.answered(hello)
	resp, answer := w.Post("/v1/outcomes", fmt.Sprintf(`{"receipt":%q,"kind":"compile","pass":false}`, id))
	if resp.StatusCode != 403 || codeOf(t, answer) != "permission_denied" {
		t.Errorf("status %d: %s", resp.StatusCode, answer)
	}
}
