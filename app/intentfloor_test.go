package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/slo"
)

// MEGA-64, MEGA-65: the floor is that of the intent which loads the specialist, for what asks that specialist; others'
// stays. It shows in the knobs and the metrics, an operator puts it back for a time, and it goes by itself when the
// load has gone.
func TestLoadRaisesTheFloorOfTheIntentThatLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, overloadEngines())
		b.Serve(overloadWorld)
		time.Sleep(time.Second)
		storm, end := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() { b.besiege(storm, &asking) })
		time.Sleep(8 * time.Second)
		if k := b.knob("priority_floor.codegen"); k.Value != 0 || k.Set == nil || k.Set.By != "escalation" ||
			k.Set.Why != "it loads debug" {
			t.Errorf("the intent that loads: %+v", k)
		}
		if k := b.knob("priority_floor.review"); k.Value != slo.LeastPriority || k.Set != nil {
			t.Errorf("one that hardly asks: %+v", k)
		}
		if v := b.Metric("http://admin", "octet_intent_floor", `intent="codegen"`); v != 0 {
			t.Errorf("the metric says %v", v)
		}
		for _, c := range []struct{ model, intent, priority, want string }{
			{"debug", "codegen", "-10", "priority_floor"}, {"debug", "codegen", "10", ""},
			{"debug", "review", "-10", "queued or served"},
			{"systems", "codegen", "-10", ""},
		} {
			if got := b.code(c.model, c.intent, c.priority); got != c.want &&
				(c.want != "queued or served" || got == "priority_floor") {
				t.Errorf("%s of %s at %s: %q", c.intent, c.model, c.priority, got)
			}
		}
		b.put("priority_floor.codegen", `{"value": -100, "by": "me", "why": "a customer waits", "for": "2s"}`)
		if got := b.code("debug", "codegen", "-10"); got == "priority_floor" {
			t.Error("an operator has lowered the floor, and it still is in force")
		}
		time.Sleep(3 * time.Second)
		if got := b.code("debug", "codegen", "-10"); got != "priority_floor" {
			t.Errorf("the operator's time is over: %q", got)
		}
		end()
		asking.Wait()
		time.Sleep(30 * time.Second)
		if k := b.knob("priority_floor.codegen"); k.Set != nil || k.Value != slo.LeastPriority {
			t.Errorf("after the load: %+v", k)
		}
	})
}

// besiege asks debug for far more than it can do, until ctx ends: codegen at -10 and 0, and now and then review.
func (b *bubble) besiege(ctx context.Context, asking *sync.WaitGroup) {
	for n := 0; ctx.Err() == nil; n++ {
		q := customer{id: fmt.Sprint("b", n), priority: -10 * (n % 2), model: "debug", text: sureOfDebug, words: 30,
			tokens: 40}
		intent := "codegen"
		if n%20 == 0 {
			intent = "review"
		}
		asking.Go(func() {
			resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body(),
				append(q.headers(), "X-Intent", intent)...)
			if err != nil {
				b.T.Error(err)
				return
			}
			q.read(resp)
		})
		time.Sleep(15 * time.Millisecond)
	}
}

func (b *bubble) knob(name string) slo.KnobState {
	var all struct{ Knobs []slo.KnobState }
	if err := json.Unmarshal([]byte(b.Read("http://admin/admin/knobs")), &all); err != nil {
		b.T.Fatal(err)
	}
	for _, k := range all.Knobs {
		if k.Name == name {
			return k
		}
	}
	b.T.Fatalf("no knob %s", name)
	return slo.KnobState{}
}

func (b *bubble) put(knob, body string) {
	resp, err := b.Ask(context.Background(), http.MethodPut, "http://admin/admin/knobs/"+knob, body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.T.Fatalf("%v: %v", resp, err)
	}
	_ = resp.Body.Close() // the status is all
}

// code is what a request of an intent meets at a model: an error's code, "" is an answer.
func (b *bubble) code(model, intent, priority string) string {
	q := customer{id: "asked", model: model, text: sureOfDebug, words: 5, tokens: 4}
	resp, err := b.Ask(context.Background(), http.MethodPost, "http://data/v1/chat/completions", q.body(), "X-Intent",
		intent, "X-Priority", priority)
	if err != nil {
		b.T.Fatal(err)
	}
	return q.read(resp).failed
}
