package app_test

import (
	"net/http"
	"strings"
	"testing"

	"octet/gateway/dispatch"
	"octet/gateway/intake"
)

// A replica that drains is told to no proxy as a destination: not where the line decides, and not where a request fails
// open past it.
func TestAReplicaThatDrainsIsNoDestination(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	drains := strings.TrimPrefix(w.Engines["debug-0"].URL, "http://")
	stays := strings.TrimPrefix(w.Engines["debug-1"].URL, "http://")
	w.do("POST", w.Admin+"/admin/drain/debug-0")
	eventually(t, "it drains", func() bool { return !w.Replica("debug-0").Fleet.Available() })
	fails := func(http.ResponseWriter, *http.Request, dispatch.Courier, intake.Among) { panic("planted") }
	for name, e := range map[string]*envoy{"by the line": newEnvoy(t, w, true, nil),
		"past it": newEnvoy(t, w, true, fails)} {
		for range 4 {
			among := requestHead("POST", "/v1/chat/completions", false, []string{drains, stays})
			if got := e.carry(t.Context(), among, pickedChat); got.status != 200 || got.to != stays {
				t.Errorf("%s: %s, %d", name, got.to, got.status)
			}
		}
		alone := requestHead("POST", "/v1/chat/completions", false, []string{drains})
		if got := e.carry(t.Context(), alone, pickedChat); !got.immediate || got.status < 500 || got.to != "" {
			t.Errorf("%s, and nothing else is offered: %+v", name, got)
		}
	}
	quiet(t, w)
}
