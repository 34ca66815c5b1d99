package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// llama is an engine that has two adapters since it began, as llama.cpp does, and applies the first of them to all
// requests unless it is told not to.
type llama struct {
	mu     sync.Mutex // guards all below
	scales [2]float64
	bodies []string
}

//nolint:lll // raw text that cannot be broken
func (e *llama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	switch r.Method + " " + r.URL.Path {
	case "GET /lora-adapters":
		fmt.Fprintf(w, `[{"id":0,"path":"/models/sql.gguf","scale":%g},{"id":1,"path":"/models/other.gguf","scale":%g}]`, e.scales[0], e.scales[1])
	case "POST /lora-adapters":
		if string(body) == `[{"id":0,"scale":0},{"id":1,"scale":0.5}]` {
			e.scales = [2]float64{0, 0.5}
		}
	case "GET /v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"open","owned_by":"llamacpp"}]}`)
	case "POST /v1/chat/completions":
		e.bodies = append(e.bodies, string(body))
		fmt.Fprint(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	default:
		fmt.Fprint(w, `{}`)
	}
}

// llama.cpp has its adapters since it began: a request names one by its number, a request that names none gets none,
// and one that the engine has not is refused with its name.
func TestAdaptersOfLlamaCppAreNamedByNumber(t *testing.T) {
	e := &llama{scales: [2]float64{1, 0.5}}
	engine := httptest.NewServer(e)
	t.Cleanup(engine.Close)
	w := newWorld(t, `
fleet: {probe_interval: 50ms}
specialists:
  - name: open
    tokenizer: none
    adapters: [{name: sql}, {name: gone, path: /models/gone.gguf}]
    replicas: [{url: "`+engine.URL+`", engine: llamacpp, blocks: 4096}]
`, nil)
	eventually(t, "the engine has told its adapters", func() bool {
		return slices.ContainsFunc(w.views()["open-0"], adapterLoaded)
	})
	ask := func(model string) int {
		resp, _ := w.Post("/v1/chat/completions", `{"model":"`+model+`","messages":[{"role":"user","content":"x"}]}`)
		return resp.StatusCode
	}
	if with, without := ask("open:sql"), ask("open"); with != 200 || without != 200 {
		t.Errorf("status %d with, %d without", with, without)
	}
	if status := ask("open:gone"); status != 503 {
		t.Errorf("status %d for an adapter that the engine has not", status)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.bodies) != 2 || !strings.Contains(e.bodies[0], `"lora":[{"id":0,"scale":1}]`) ||
		!strings.Contains(e.bodies[0], `"model":"open"`) || strings.Contains(e.bodies[1], "lora") {
		t.Errorf("the engine was sent %q", e.bodies)
	}
	if e.scales != [2]float64{0, 0.5} {
		t.Errorf("requests that name none get %v", e.scales)
	}
}
