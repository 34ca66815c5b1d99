package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// compiles is an engine whose code compiles, or not.
//
//nolint:lll // raw text that cannot be broken
func compiles(t *testing.T, good *atomic.Bool) string {
	t.Helper()
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		code := `int f( { return 1; }`
		if good.Load() {
			code = `int f() { return 1; }`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(
			w,
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"%scpp\n%s\n%s"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":9}}`,
			"```", code, "```")
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// MEGA-60, MEGA-61: without a verifier its probes are judged from outside, by the receipt of the request that they are
// copies of.
func TestProbesAreJudgedFromOutside(t *testing.T) {
	var sound atomic.Bool
	w := newWorld(t, fmt.Sprintf(`
auth: {anonymous: true}
specialists:
  - name: debug
    fallback: systems
    slo: {correctness: {floor: 0.9, min_samples: 5, recover_for: 100ms, probe_share: 1}}
    replicas: [{url: '%s', engine: openai, blocks: 512}]
  - {name: systems, replicas: [{url: '%s', engine: openai, blocks: 512}]}
`, compiles(t, &sound), compiles(t, &sound)), nil, keyed()...)
	w.Key = key
	verdict := func(receipt, of string, pass bool) int {
		resp, _ := w.Post("/v1/outcomes",
			fmt.Sprintf(`{"receipt":%q,"kind":"review","pass":%v,"specialist":%q}`, receipt, pass, of))
		return resp.StatusCode
	}
	eventually(t, "the fallback to answer", func() bool {
		id, resp := w.answered(hello)
		verdict(id, "", false)
		return resp.Header.Get("X-Specialist") == "systems"
	})
	eventually(t, "debug to answer again", func() bool {
		id, resp := w.answered(hello)
		if status := verdict(id, "nobody", true); status != 400 {
			t.Fatalf("a verdict on one who was not asked: %d", status)
		}
		if resp.Header.Get("X-Shadow") == "debug" && verdict(id, "debug", true) != 200 {
			t.Fatal("the verdict on a copy is refused")
		}
		return resp.Header.Get("X-Specialist") == "debug"
	})
}

// MEGA-59, MEGA-60, MEGA-61: the whole way by itself. The verifier finds the code wrong, the fallback answers, every
// request is copied to the demoted specialist, and when its copies are found right for a while it answers again.
func TestASpecialistIsDemotedAndRecoversByItself(t *testing.T) {
	var broken, sound atomic.Bool
	sound.Store(true)
	w := newWorld(t, fmt.Sprintf(`
auth: {anonymous: true}
outcomes: {verifier: {sample: 1, workers: 2, command: [sh, -c, '! grep -q "f( {" $1', sh, '{}']}}
specialists:
  - name: debug
    fallback: systems
    slo: {correctness: {floor: 0.5, min_samples: 5, recover_for: 200ms, probe_share: 1}}
    replicas: [{url: '%s', engine: openai, blocks: 512}]
  - {name: systems, replicas: [{url: '%s', engine: openai, blocks: 512}]}
`, compiles(t, &broken), compiles(t, &sound)), nil)
	by := func() string {
		_, resp := w.answered(hello)
		return resp.Header.Get("X-Specialist")
	}
	settled := func() uint64 {
		s := w.App.Verifier().Stats()
		return s.Judged + s.Broken + s.Dropped
	}
	// a judge's time is the machine's: what is asked before it has judged all would only wait, and be late
	judged := func() string {
		want := settled() + 1
		_, resp := w.answered(hello)
		if resp.Header.Get("X-Shadow") != "" {
			want++
		}
		eventually(t, "verdicts on an answer and its copy", func() bool { return settled() >= want })
		return resp.Header.Get("X-Specialist")
	}
	for asked := 1; judged() != "systems"; asked++ {
		if asked == 12 {
			t.Fatalf("%d wrong answers, and the fallback does not answer", asked)
		}
	}
	for range 6 {
		if got := judged(); got != "systems" {
			t.Errorf("%s answers, and its probes are wrong", got)
		}
	}
	breaker := w.App.Server().Runtime().Specialist("debug").Board.Breaker()
	if got := breaker.State(time.Now()).Samples; got <= 5 {
		t.Errorf("%d probes are judged", got)
	}
	broken.Store(true) // repaired
	for asked := 1; breaker.State(time.Now()).RecoversAt.IsZero(); asked++ {
		if judged(); asked == 24 {
			t.Fatalf("%d answers, and it is not on its way back", asked)
		}
	}
	eventually(t, "debug to answer again", func() bool { return by() == "debug" })
}
