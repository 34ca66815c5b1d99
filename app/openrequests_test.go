package app_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"octet/gateway/api"
	"octet/internal/apptest"
)

// Issue 22, point 2: an operator sees which requests are open for the longest time, where and how far they are, and how
// many wait at each priority.
func TestOpenRequestsAreToldByAge(t *testing.T) {
	w := newWorld(t, apptest.Small, apptest.SmallEngines(), "specialists[1].scheduler.max_running=1",
		"limits.max_queue_wait=60s", "limits.idle_timeout=60s")
	w.Fault("systems-0", `{"kind":"hang_after_tokens","k":2,"times":1}`)
	const body = `{"model":"systems","prompt":"p","max_tokens":20,"stream":true}`
	ctx, leave := context.WithCancel(t.Context())
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer leave()
	w.Ask(ctx, "/v1/completions", body, "X-Request-Id", "hangs", "X-Priority", "9")
	for _, priority := range []string{"7", "-3", "7"} {
		req, err := http.NewRequestWithContext(ctx, "POST", w.Data+"/v1/completions", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Priority", priority)
		waiting.Go(func() { // until leave
			if resp, err := http.DefaultClient.Do(req); err == nil {
				resp.Body.Close()
			}
		})
	}
	var state api.EnsembleState
	eventually(t, "three wait", func() bool {
		w.Get(w.Admin+"/admin/state", &state)
		return state.Specialists[1].Waiting == 3
	})
	want := []api.Queued{{Priority: 7, Waiting: 2}, {Priority: -3, Waiting: 1}}
	if sp := &state.Specialists[1]; !slices.Equal(sp.Queue, want) || !slices.Equal(sp.Replicas[0].Queue, want) {
		t.Errorf("%+v", sp)
	}
	var open api.OpenRequests
	w.Get(w.Admin+"/admin/requests", &open)
	if len(open.Requests) != 4 || open.Requests[0].ID != "hangs" || open.Requests[0].Stage != "answering" ||
		open.Requests[0].Replica != "systems-0" || open.Requests[0].Shadow || open.Requests[1].Stage != "waiting" {
		t.Errorf("%+v", open)
	}
	for query, n := range map[string]int{"?most=2": 2, "?specialist=debug": 0, "?replica=systems-0": 4,
		"?most=100": 4} {
		if w.Get(w.Admin+"/admin/requests"+query, &open); len(open.Requests) != n {
			t.Errorf("%s: %d requests", query, len(open.Requests))
		}
	}
	for _, query := range []string{"?most=0", "?most=101", "?most=x", "?most=-1"} {
		if status := w.Get(w.Admin+"/admin/requests"+query, nil); status != 400 {
			t.Errorf("%s: status %d", query, status)
		}
	}
}
