package emulator

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// MEGA-71: what a request says of sampling decides what the engine computes for it, by the seed; steps are told of.
func TestRequestsAreSampledByTheirPolicy(t *testing.T) {
	e, err := New(Config{Model: "debug", Text: TextTiny, Draft: 3, Blocks: 64})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = e.Run(t.Context()) }() // its error is the context's
	ask := func(path, more string) (int, string) {
		w := httptest.NewRecorder()
		body := `{"prompt":"The allocator","max_tokens":24` + more + `}`
		if path == "/metrics" {
			e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		} else {
			e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
		}
		text := w.Body.String()
		if _, after, ok := strings.Cut(text, `"text":`); ok {
			text, _, _ = strings.Cut(after, `"finish_reason"`)
		}
		return w.Code, text
	}
	const path = "/v1/completions"
	_, greedy := ask(path, ``)
	said := map[string]bool{greedy: true}
	for seed := range 4 {
		policy := fmt.Sprintf(`,"temperature":1.2,"seed":%d`, seed)
		_, first := ask(path, policy)
		if _, again := ask(path, policy); again != first {
			t.Errorf("seed %d says %s, and then %s", seed, first, again)
		}
		said[first] = true
		if _, cold := ask(path, fmt.Sprintf(`,"temperature":0,"seed":%d`, seed)); cold != greedy {
			t.Errorf("at temperature 0 seed %d says %s, without either %s", seed, cold, greedy)
		}
	}
	if len(said) != 5 {
		t.Errorf("four seeds and none say %d texts: %v", len(said), said)
	}
	for _, bad := range []string{`,"temperature":-1`, `,"top_p":0`, `,"top_p":1.5`, `,"temperature":"hot"`} {
		if status, text := ask(path, bad); status != http.StatusBadRequest {
			t.Errorf("%s: status %d: %s", bad, status, text)
		}
	}
	_, page := ask("/metrics", "")
	for _, name := range []string{"octet_engine_step_seconds_count", "octet_engine_step_requests_count",
		"vllm:iteration_tokens_total_count"} {
		_, after, ok := strings.Cut(page, name)
		if line, _, _ := strings.Cut(after, "\n"); !ok || strings.Contains(line, "} 0") {
			t.Errorf("the metrics do not count %s", name)
		}
	}
}
