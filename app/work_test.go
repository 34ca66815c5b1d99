package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// What the default profile reads of a replica is real: measured from first tokens that went by, and nothing is left of
// requests that are over.
func TestServingMeasuresTheRateThatRoutingReads(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	long := strings.Repeat("why does it crash ", 100)
	for i := range 6 {
		w.Post("/v1/chat/completions",
			fmt.Sprintf(
				`{"model":"systems","stream":true,"max_tokens":2,"messages":[{"role":"user","content":"%d %s"}]}`, i,
				long))
		w.Post("/v1/chat/completions",
			fmt.Sprintf(`{"model":"systems","max_tokens":2,"messages":[{"role":"user","content":"whole %d %s"}]}`, i,
				long))
	}
	r := w.Replica("systems-0").Fleet
	eventually(t, "no work left", func() bool { return r.Work(time.Now()).Tokens == 0 })
	if rate := r.Work(time.Now()).Rate; rate <= 0 || rate > 1e7 {
		t.Errorf("a rate of %v tokens a second", rate)
	}
}
