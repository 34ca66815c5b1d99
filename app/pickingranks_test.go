package app_test

import (
	"fmt"
	"testing"
)

// A proxy carries a request to the rank that was picked, as the replica's own client does: both ranks are behind one
// endpoint, and an engine that is not told picks one by itself. What a client says of ranks is not told.
func TestAProxyIsToldWhichRankARequestIsFor(t *testing.T) {
	w, e := ranked(t)
	proxy := newEnvoy(t, w, false, nil)
	for i := range 4 {
		want, other := i%2, w.Replica(fmt.Sprint("debug-0-r", 1-i%2)).Fleet
		other.SetDraining(true)
		before := e.All()[want].Stats().PromptTokens
		got := proxy.post("/v1/chat/completions", lengthy(fmt.Sprint("subject ", i)), "x-data-parallel-rank",
			fmt.Sprint(1-want))
		other.SetDraining(false)
		if told := got.asked.Header.Values("X-Data-Parallel-Rank"); got.status != 200 || len(told) != 1 ||
			told[0] != fmt.Sprint(want) {
			t.Errorf("for rank %d: status %d, the engine is told %q", want, got.status, told)
		}
		if e.All()[want].Stats().PromptTokens == before {
			t.Errorf("rank %d has computed nothing", want)
		}
	}
	quiet(t, w)
}
