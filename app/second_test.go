package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/engine/emulator"
	"octet/gateway/receipt"
)

// pacedEngines are those of shadowWorld, of which a token takes its time.
func pacedEngines() []emulator.Config {
	engines := proseEngines()
	for i := range engines {
		engines[i].Step, engines[i].Text = 5*time.Millisecond, emulator.TextIndex
	}
	return engines
}

// busy has a specialist's only replica run a request of so many tokens until the test ends. Its pace is known by then.
func (w *world) busy(specialist string, tokens int) {
	w.T.Helper()
	w.paced(specialist)
	w.runs(specialist, tokens)
}

// runs is busy at a replica whose pace is known.
func (w *world) runs(specialist string, tokens int) {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	var open sync.WaitGroup
	w.T.Cleanup(func() { cancel(); open.Wait() })
	gate := w.gate(specialist + "-0")
	open.Go(func() { w.hangUp(ctx, tokensOf(specialist, tokens, false)) })
	eventually(w.T, "it runs", func() bool { return gate.Stats().Running == 1 })
}

// paced has a specialist's only replica answer until its pace is known.
func (w *world) paced(specialist string) {
	w.T.Helper()
	for range 8 {
		w.answered(tokensOf(specialist, 20, true))
	}
}

// tokensOf is a chat whose answer has so many tokens.
func tokensOf(specialist string, n int, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":%d,"stream":%v,"messages":[{"role":"user","content":"x"}]}`,
		specialist, n, stream)
}

// MEGA-46: a request that its first choice refuses is answered by the second one, if the second has a place sooner than
// the first. The head and the receipt say so.
func TestARefusedRequestIsTheLessLoadedSecondChoices(t *testing.T) {
	const full, queue = "specialists[0].scheduler.max_waiting=0", "specialists[1].scheduler.max_running=1"
	for name, test := range map[string]struct {
		sets   []string
		first  int // tokens of what the first choice runs
		second int // tokens of what the second choice runs
		want   string
	}{
		"an idle second choice":              {[]string{full}, 1000, 0, "systems"},
		"one that is free sooner":            {[]string{full, queue}, 1000, 100, "systems"},
		"one that is free later":             {[]string{full, queue}, 300, 1400, ""},
		"later, and the first one had time":  {[]string{queue}, 800, 1400, "debug"},
		"sooner, and the first one had time": {[]string{queue}, 1000, 100, "systems"},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := newShadowWorld(t, pacedEngines(), append(test.sets, "specialists[0].scheduler.max_running=1",
				"shadow.max_concurrent=0", "limits.ttft_timeout=20s", "limits.max_queue_wait=12s")...)
			w.paced("debug")
			if test.second > 0 {
				w.busy("systems", test.second)
			}
			w.runs("debug", test.first) // last: of which of two is free sooner nothing is over yet
			resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60", false))
			by := resp.Header.Get("X-Specialist")
			if test.want == "" {
				var e errorBody
				if err := json.Unmarshal(answer, &e); err != nil || resp.StatusCode != 429 || by != "debug" ||
					e.Error.Code != "queue_full" {
					t.Errorf("%s answers with status %d: %s", by, resp.StatusCode, answer)
				}
				if n := w.gate("systems-0").Stats().Waiting; n != 0 {
					t.Errorf("%d wait at the second choice", n)
				}
				return
			}
			if resp.StatusCode != 200 || by != test.want {
				t.Fatalf("%q answers with status %d: %s", by, resp.StatusCode, answer)
			}
			var r receipt.Receipt
			w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), &r)
			d, last := r.Decision, r.Attempts[len(r.Attempts)-1]
			if d.Specialist != by || r.Result.Specialist != by || last.Specialist != by || last.Outcome != receipt.OK {
				t.Errorf("%s answered, and the receipt says %+v, attempts %+v", by, d, r.Attempts)
			}
			if routed := resp.Header.Get("X-Routed-By"); by == "systems" && (routed != "divert" ||
				d.RoutedBy != "divert" || d.Second != "debug" || r.Attempts[0].Outcome != "queue_full" ||
				r.Attempts[0].Specialist != "debug") {
				t.Errorf("routed by %s, decision %+v, attempts %+v", routed, d, r.Attempts)
			}
		})
	}
}

// MEGA-46: a second choice that does not have the adapter which a request asks for is none.
func TestASecondChoiceKeepsTheAdapter(t *testing.T) {
	for _, has := range []bool{true, false} {
		sets := []string{"specialists[0].scheduler.max_waiting=0", "specialists[0].scheduler.max_running=1",
			"shadow.max_concurrent=0"}
		if has {
			sets = append(sets, "specialists[1].adapters[0].name=gdb-v2")
		}
		w, _ := newShadowWorld(t, pacedEngines(), sets...)
		w.busy("debug", 1000)
		resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60", false), "X-Adapter", "gdb-v2")
		by, with := resp.Header.Get("X-Specialist"), resp.Header.Get("X-Adapter")
		switch {
		case has && (resp.StatusCode != 200 || by != "systems" || with != "gdb-v2"):
			t.Errorf("%q answers with adapter %q, status %d: %s", by, with, resp.StatusCode, answer)
		case !has && (resp.StatusCode != 429 || !strings.Contains(string(answer), "queue_full")):
			t.Errorf("%q answers with adapter %q, status %d: %s", by, with, resp.StatusCode, answer)
		}
	}
}

// MEGA-73: a refusal after the choice of the specialist names it, one before does not.
func TestRefusalsNameTheChosenSpecialist(t *testing.T) {
	w, _ := newShadowWorld(t, proseEngines(), "intents.review.priority_floor=5", "specialists[0].context=64",
		"shadow.max_concurrent=0")
	long := strings.Replace(asking("sure", false), `"max_tokens":40`, `"max_tokens":80`, 1)
	for name, c := range map[string]struct {
		body, by string
		headers  []string
	}{
		"the intent's floor": {asking("sure", false), "debug", []string{"X-Intent", "review"}},
		"the context":        {long, "debug", nil},
		"no such model":      {strings.Replace(asking("", false), "octet", "none", 1), "", nil},
		"no JSON":            {"{", "", nil},
	} {
		resp, answer := w.Post("/v1/chat/completions", c.body, c.headers...)
		if by := resp.Header.Get("X-Specialist"); by != c.by || resp.StatusCode/100 != 4 && resp.StatusCode != 504 {
			t.Errorf("%s: specialist %q, status %d: %s", name, by, resp.StatusCode, answer)
		}
	}
}
