package app_test

import (
	"encoding/json"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"octet/engine/emulator"
	"octet/slo"
)

// MEGA-51, MEGA-52, MEGA-53, MEGA-58: TTFT is from a request's arrival to its first token, its wait in the queue
// included; admission to first token is without that wait; ITL is between the tokens after it. By an engine whose times
// are known to the millisecond.
func TestWhatIsPublishedIsWhatTheEngineTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const step, perToken = 20 * time.Millisecond, time.Millisecond // of decode, of prefill
		b := newBubble(t, []emulator.Config{{Name: "debug-0", Model: "debug", Blocks: 512, MaxRunning: 1, Step: step,
			StepPerSeq: -1, PrefillTPS: 1000, AdapterSwap: -1}})
		b.Serve(strings.NewReplacer("WAIT", "30s", "tokenizer: builtin",
			"tokenizer: builtin\n    slo: {min_samples: 1}").Replace(oneplace))
		time.Sleep(time.Second)
		first := customer{id: "a", stream: true, model: "debug", text: "x", words: 40, tokens: 50}
		second := first
		second.id = "b"
		var asking sync.WaitGroup
		var answers [2]answered
		for i, q := range []customer{first, second} {
			asking.Go(func() { answers[i] = b.served(q) })
			synctest.Wait()
		}
		asking.Wait()
		prefill := time.Duration(answers[0].prompt) * perToken
		whole := prefill + 49*step
		queued := whole + time.Duration(answers[1].prompt)*perToken
		time.Sleep(time.Second) // what headers and views show is at most 250 ms old
		var r slo.Report
		if err := json.Unmarshal([]byte(b.Read("http://data/v1/slo/debug")), &r); err != nil {
			t.Fatal(err)
		}
		for what, c := range map[string]struct {
			got  *float64
			want time.Duration
		}{
			"TTFT p50": {r.TTFT.P50, prefill}, "TTFT p99": {r.TTFT.P99, queued},
			"admission p95": {r.Admission.P95, prefill},
			"ITL p50":       {r.ITL.P50, step}, "ITL p99": {r.ITL.P99, step},
		} {
			if want := float64(c.want) / 1e6; c.got == nil || math.Abs(*c.got-want) > 0.02*want {
				t.Errorf("%s is %v, the engine took %v", what, c.got, c.want)
			}
		}
	})
}
