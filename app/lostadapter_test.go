package app_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
)

// An engine that has unloaded an adapter by itself, or has begun anew, between two looks at it: no client is told, the
// adapter is loaded again, where it was or elsewhere. A request that the engine refuses for another reason is refused.
func TestAnAdapterThatItsEngineHasLostIsLoadedAgain(t *testing.T) {
	const list = "{name: a, path: /a, replicas: 1}, {name: b, path: /b, replicas: 1}"
	for _, stream := range []string{"false", "true"} {
		w := newWorld(t, withAdapters(list), lorasEngines(), "fleet.probe_interval=1m")
		holder := ""
		eventually(t, "it is known where both are", func() bool {
			for _, at := range []string{"open-0", "open-1"} {
				if adapterLoaded(w.viewOf(at, "a")) {
					holder = at
				}
			}
			return holder != "" && (adapterLoaded(w.viewOf("open-0", "b")) || adapterLoaded(w.viewOf("open-1", "b")))
		})
		for round := range 3 {
			w.unloadAt(holder, "a")
			var asking sync.WaitGroup
			for range 4 {
				asking.Go(func() {
					resp, body := w.Post("/v1/chat/completions", strings.Replace(askA, `"max_tokens"`,
						`"stream":`+stream+`,"max_tokens"`, 1))
					if resp.StatusCode != http.StatusOK || strings.Contains(string(body), `"error"`) {
						t.Errorf("round %d, stream %s: status %d: %s", round, stream, resp.StatusCode, body)
					}
				})
			}
			asking.Wait()
			if holder = "open-0"; w.has("open-1", "a") {
				holder = "open-1"
			}
		}
		w.Post("/v1/chat/completions", askA)
		if !w.has("open-0", "a") && !w.has("open-1", "a") {
			t.Error("no engine has it")
		}
		eventually(t, "ledgers at their baseline", w.Quiet)
		w.Close()
	}
}

// unloadAt has an engine unload an adapter without its gateway.
func (w *world) unloadAt(engine, name string) {
	w.T.Helper()
	resp, err := http.Post(w.Engines[engine].URL+"/v1/unload_lora_adapter", "application/json",
		strings.NewReader(`{"lora_name":"`+name+`"}`))
	if err != nil {
		w.T.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.T.Fatalf("%s does not unload %s: status %d", engine, name, resp.StatusCode)
	}
}
