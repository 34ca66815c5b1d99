package app_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"octet/engine/emulator"
	"octet/gateway/api"
)

// What is open at a replica that a reload has taken out is told until it has ended: an operator stops the engine then.
func TestAReplicaThatIsTakenOutIsToldWhileItHasRequests(t *testing.T) {
	w := newWorld(t, smallWorld, speaking(emulator.TextIndex), "limits.idle_timeout=1m", "limits.retry_budget=1")
	body := continuable["/v1/chat/completions"]
	slow := w.next(body)
	w.Fault(slow, `{"kind":"hang_after_tokens","k":5,"times":1}`)
	resp := w.Ask(t.Context(), "/v1/chat/completions", body, "X-Request-Id", "open")
	lines := bufio.NewReader(resp.Body)
	for read := ""; !strings.Contains(read, "open:4"); {
		line, err := lines.ReadString('\n')
		if read = line; err != nil {
			t.Fatal(err)
		}
	}
	told := func(query string) (list []api.ReplicaState) {
		var s api.EnsembleState
		w.Get(w.Admin+"/admin/state"+query, &s)
		return s.Leaving
	}
	if list := told(""); len(list) != 0 {
		t.Errorf("before a reload: %+v", list)
	}
	w.reload(debugAlone, from(t, "another"), from(t, "a third"))
	list := told("")
	if len(list) != 1 || list[0].Name != slow || list[0].Running != 1 || !list[0].Withdrawn || list[0].Why != "left" {
		t.Errorf("it is told as %+v", list)
	}
	if n := len(told("?replica=other")) + len(told("?specialist=other")); n != 0 {
		t.Errorf("%d where others are asked for", n)
	}
	if n := len(told("?specialist=debug&replica=" + slow)); n != 1 {
		t.Errorf("%d where it is asked for", n)
	}
	var open api.OpenRequests
	w.Get(w.Admin+"/admin/requests?replica="+slow, &open)
	if len(open.Requests) != 1 || open.Requests[0].ID != "open" || open.Requests[0].Replica != slow {
		t.Errorf("its request is told as %+v", open.Requests)
	}
	w.Engines[slow].Kill()
	_, _ = io.Copy(io.Discard, lines) // however it ends
	eventually(t, "nothing is left of it", func() bool {
		w.Get(w.Admin+"/admin/requests", &open)
		return len(told(""))+len(open.Requests) == 0
	})
}
