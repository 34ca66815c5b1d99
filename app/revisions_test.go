package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"octet/gateway/receipt"
	"octet/slo"
)

// pairWorld has a specialist of two replicas with a fallback.
//
//nolint:lll // raw text that cannot be broken
const pairWorld = `
auth: {anonymous: true}
limits: {max_queue_wait: 2s, idle_timeout: 2s, ttft_timeout: 3s, drain: 5s}
fleet: {probe_interval: 20ms, revision_interval: 40ms}
specialists:
  - {name: debug, tokenizer: builtin, fallback: systems, adapters: [{name: gdb-v2}], slo: {correctness: {min_samples: 2, floor: 0.2}}, replicas: [{url: "%s", blocks: 512}, {url: "%s", blocks: 512}]}
  - {name: systems, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}
`

// newPairWorld is pairWorld with a tenant that judges and may name replicas.
func newPairWorld(t *testing.T, sets ...string) *world {
	t.Helper()
	w := newWorld(t, pairWorld, smallEngines(), keyed(append(sets, "auth.tenants[0].may_direct=true")...)...)
	w.Key = key
	return w
}

// update has an engine serve other weights, in place.
func (w *world) update(replica, path string) {
	w.T.Helper()
	body, _ := json.Marshal(map[string]string{"model_path": path})
	resp, err := http.Post(w.Engines[replica].URL+"/update_weights_from_disk", "application/json",
		bytes.NewReader(body))
	if err != nil {
		w.T.Fatal(err)
	}
	_ = resp.Body.Close()
	eventually(w.T, "the revision of "+replica, func() bool { return w.Replica(replica).Revision() == path })
}

// trial returns what is known of a specialist that is on probation; the zero Trial if it is on none.
func (w *world) trial(specialist string) slo.Trial {
	w.T.Helper()
	var state struct {
		Specialists []struct{ Probation []slo.Trial }
	}
	w.Get(w.Admin+"/admin/state", &state)
	for _, sp := range state.Specialists {
		for _, p := range sp.Probation {
			if p.Specialist == specialist && p.Adapter == "" {
				return p
			}
		}
	}
	return slo.Trial{}
}

// answeredBy sends a request to one replica and returns its receipt.
func (w *world) answeredBy(replica string) (r receipt.Receipt) {
	w.T.Helper()
	resp, answer := w.Post("/v1/chat/completions", toDebug, "X-Octet-Replica", replica)
	if resp.StatusCode != http.StatusOK {
		w.T.Fatalf("status %d: %s", resp.StatusCode, answer)
	}
	w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), &r)
	return r
}

// MEGA-67: engines that say that they serve other weights begin the specialist's correctness window and probation anew,
// without a change of the configuration. While a rolling upgrade is under way the newest weights are judged; answers of
// the others count for nothing. A roll back ends what they began.
func TestWhatEnginesSayOfTheirWeightsIsJudgedByItself(t *testing.T) {
	w := newPairWorld(t)
	before := w.answeredBy("debug-0")
	w.verdict(before.ID, "compile", true)
	if of := before.Attempts[0].Revision; of != "debug" || w.trial("debug").Fresh || w.samples("debug") != 1 {
		t.Fatalf("at the start: revision %q, %+v, %d verdicts", of, w.trial("debug"), w.samples("debug"))
	}
	w.update("debug-0", "/models/debug-2")
	// A replica's revision is known a moment before its specialist is judged by it.
	eventually(t, "a probation, and no verdict on the weights before", func() bool {
		s := w.trial("debug")
		return s.Fresh && s.Revision == "/models/debug-2" && w.samples("debug") == 0
	})
	w.verdict(before.ID, "review", false)
	for range 4 {
		w.verdict(w.answeredBy("debug-1").ID, "compile", true) // the old weights
	}
	if s := w.trial("debug"); s.Judged != 0 || w.samples("debug") != 0 {
		t.Errorf("verdicts on the old weights count: %+v, %d in the window", s, w.samples("debug"))
	}
	r := w.answeredBy("debug-0")
	if w.verdict(r.ID, "compile", false); r.Attempts[0].Revision != "/models/debug-2" || !r.Decision.Probation {
		t.Errorf("the receipt says %+v of %+v", r.Decision, r.Attempts)
	}
	if s := w.trial("debug"); s.Judged != 1 || w.samples("debug") != 1 {
		t.Errorf("a verdict on the new weights: %+v, %d in the window", s, w.samples("debug"))
	}
	w.update("debug-1", "/models/debug-2") // the upgrade goes on: nothing begins anew
	if s := w.trial("debug"); s.Judged != 1 {
		t.Errorf("the second replica's upgrade: %+v", s)
	}
	w.update("debug-0", "debug")
	if s := w.trial("debug"); s.Judged != 1 {
		t.Errorf("one replica is rolled back: %+v", s)
	}
	w.update("debug-1", "debug")
	eventually(t, "a roll back to weights that are known", func() bool {
		return !w.trial("debug").Fresh && w.samples("debug") == 0
	})
	for i := range 2 {
		w.update(fmt.Sprint("debug-", i), "/models/debug-2")
	}
	eventually(t, "weights that were on probation are back", func() bool {
		s := w.trial("debug")
		return s.Fresh && s.Judged == 1
	})
	for range 3 {
		w.verdict(w.answeredBy("debug-1").ID, "compile", true)
	}
	if s := w.trial("debug"); s.Fresh {
		t.Errorf("three of four pass: %+v", s)
	}
	eventually(t, "ledgers at their baseline", w.Quiet)
}

// MEGA-67: weights that changed while the gateway was away are another revision when it is there again, in the window
// as in the probation. What the same weights were said to be stays.
func TestWeightsThatChangedMeanwhileAreJudgedAnew(t *testing.T) {
	for _, changed := range []bool{false, true} {
		dir := t.TempDir()
		sets := []string{"router.probation.file=" + filepath.Join(dir, "probation.json"),
			"router.probation.settled=true", "outcomes.interval=1h",
			"outcomes.file=" + filepath.Join(dir, "verdicts.json")}
		w := newPairWorld(t, sets...)
		w.verdict(w.answeredBy("debug-0").ID, "compile", true)
		w.Stop()
		<-w.Ended
		w.Ended <- nil
		w.Close()
		if changed {
			w.updated("debug-0", "/models/other")
			w.updated("debug-1", "/models/other")
		}
		again := &world{w.Another(w.App.Config())}
		again.Key = key
		if s := again.trial("debug"); s.Fresh != changed {
			t.Errorf("changed %v: %+v", changed, s)
		}
		if n := again.samples("debug"); n == 1 == changed {
			t.Errorf("changed %v: %d verdicts in the window", changed, n)
		}
	}
}

// Issue 22: the receipt tells the weights that answered: those of the time when a place was given, and not of the time
// when the request began to wait for it.
func TestAReceiptTellsTheWeightsThatAnsweredAfterAWait(t *testing.T) {
	w := newPairWorld(t, "specialists[0].scheduler.max_running=1", "limits.max_queue_wait=20s",
		"limits.idle_timeout=20s")
	gate := w.gate("debug-0")
	w.Fault("debug-0", `{"kind":"hang_after_tokens","k":1,"times":1}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	w.Ask(ctx, "/v1/chat/completions", streamed(toDebug), "X-Octet-Replica", "debug-0")
	answered := make(chan receipt.Receipt, 1)
	go func() { answered <- w.answeredBy("debug-0") }()
	eventually(t, "the other waits", func() bool { return gate.Stats().Waiting == 1 })
	w.update("debug-0", "/models/newer")
	leave()
	if r := <-answered; r.Revision() != "/models/newer" || len(r.Attempts) != 1 || r.Attempts[0].QueueMs == 0 {
		t.Errorf("%+v", r.Attempts)
	}
}

// updated has an engine serve other weights while no gateway asks it.
func (w *world) updated(replica, path string) {
	w.T.Helper()
	resp, err := http.Post(w.Engines[replica].URL+"/update_weights_from_disk", "application/json",
		bytes.NewReader([]byte(`{"model_path":"`+path+`"}`)))
	if err != nil {
		w.T.Fatal(err)
	}
	_ = resp.Body.Close()
}

// Asking for revisions can be turned off.
func TestRevisionsAreAskedForOnlyIfSaidSo(t *testing.T) {
	w := newPairWorld(t, "fleet.revision_interval=0s")
	w.updated("debug-0", "/models/other")
	w.updated("debug-1", "/models/other")
	for range 5 {
		w.answeredBy("debug-0")
	}
	if s := w.trial("debug"); s.Fresh || w.Replica("debug-0").Revision() != "debug" {
		t.Errorf("%+v", s)
	}
}

// MEGA-67: an adapter on probation is judged by itself: fifty failures keep it there, and are no evidence against its
// specialist, which other requests are answered by.
func TestAFreshAdaptersFailuresAreItsOwn(t *testing.T) {
	w := newPairWorld(t, "router.probation.settled=false")
	for range 3 {
		w.verdict(w.answeredBy("debug-0").ID, "compile", true)
	}
	if w.trial("debug").Fresh || w.samples("debug") != 3 {
		t.Fatalf("the specialist has passed: %+v, %d verdicts", w.trial("debug"), w.samples("debug"))
	}
	for range 50 {
		resp, answer := w.Post("/v1/chat/completions", toDebug, "X-Adapter", "gdb-v2")
		if resp.Header.Get("X-Adapter") != "gdb-v2" {
			t.Fatalf("status %d: %s", resp.StatusCode, answer)
		}
		id := resp.Header.Get("X-Receipt-Id")
		w.verdict(id, "compile", true)
		w.verdict(id, "review", false)
	}
	if fmt.Sprint(w.fresh()) != "[debug:gdb-v2 systems]" || w.samples("debug") != 3 {
		t.Errorf("fresh: %v, %d verdicts on the specialist", w.fresh(), w.samples("debug"))
	}
	if w.App.Server().Runtime().Specialist("debug").Board.Breaker().Demoted() {
		t.Error("an adapter on probation has its specialist demoted")
	}
}

// MEGA-67: where a file remembers what has passed, a first start's specialists are unknown, and settled only if the
// configuration says so.
func TestAFirstStartWithMemoryIsOnProbation(t *testing.T) {
	for set, want := range map[string]string{
		"router.probation.settled=true": "[]", "router.probation.share=0.5": "[debug debug:gdb-v2 systems]",
	} {
		w := newWorld(t, pairWorld, smallEngines(), set,
			"router.probation.file="+filepath.Join(t.TempDir(), "probation.json"))
		if got := fmt.Sprint(w.fresh()); got != want {
			t.Errorf("%s: fresh: %s", set, got)
		}
	}
}

// MEGA-67: what answers as the second choice is on probation, or not, by itself.
func TestASecondChoicesProbationIsItsOwn(t *testing.T) {
	sets := []string{"specialists[0].scheduler.max_waiting=0", "specialists[0].scheduler.max_running=1",
		"shadow.max_concurrent=0", "specialists[1].adapters[0].name=gdb-v2"}
	w, _ := newShadowWorld(t, pacedEngines(), sets...)
	w.again(append(sets, "specialists[1].version=2")...)
	w.busy("debug", 1000)
	resp, answer := w.Post("/v1/chat/completions", asking("unsure 0.60", false), "X-Adapter", "gdb-v2")
	var r receipt.Receipt
	w.Get(w.Data+"/v1/receipts/"+resp.Header.Get("X-Receipt-Id"), &r)
	if d := r.Decision; d.Specialist != "systems" || d.Adapter != "gdb-v2" || !d.Probation {
		t.Errorf("status %d: %s: %+v", resp.StatusCode, answer, d)
	}
}
