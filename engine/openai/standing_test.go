package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"octet/engine"
)

// An engine says whether it serves a model in as many ways as there are kinds; what it does not say counts for nothing.
func TestAnEngineSaysWhetherItServes(t *testing.T) {
	const listed = `{"data":[{"id":"debug"}]}`
	for name, c := range map[string]struct {
		kind  string
		pages map[string]string
		want  Standing
	}{
		"vllm awake": {"vllm", map[string]string{
			"GET /is_sleeping": `{"is_sleeping":false}`, "GET /v1/models": listed}, Standing{}},
		"vllm asleep": {"vllm", map[string]string{
			"GET /is_sleeping": `{"is_sleeping":true}`, "GET /v1/models": listed}, Standing{Asleep: true}},
		"not offered": {"vllm", map[string]string{"GET /v1/models": listed}, Standing{}},
		"no JSON":     {"vllm", map[string]string{"GET /is_sleeping": `yes`, "GET /v1/models": listed}, Standing{}},
		"a failure": {"vllm", map[string]string{
			"GET /is_sleeping": `500 no`, "GET /v1/models": listed}, Standing{}},
		"others listed": {"vllm", map[string]string{
			"GET /v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`}, Standing{Absent: true}},
		"none listed": {"vllm", map[string]string{"GET /v1/models": `{"data":[]}`}, Standing{}},
		"no list":     {"vllm", nil, Standing{}},
		"a bad list":  {"vllm", map[string]string{"GET /v1/models": `[`}, Standing{}},
		"any name":    {"sglang", map[string]string{"GET /v1/models": `{"data":[{"id":"a"}]}`}, Standing{}},
		"openai":      {"openai", map[string]string{"GET /v1/models": `{"data":[{"id":"a"}]}`}, Standing{}},
		"router loads": {"llamacpp", map[string]string{
			"GET /v1/models": `{"data":[{"id":"debug","status":{"value":"loading"}}]}`}, Standing{Loading: true}},
		"router unloaded": {"llamacpp", map[string]string{
			"GET /v1/models": `{"data":[{"id":"debug","status":{"value":"unloaded"}}]}`}, Standing{Asleep: true}},
		"router loaded": {"llamacpp", map[string]string{
			"GET /v1/models": `{"data":[{"id":"debug","status":{"value":"loaded"}}]}`}, Standing{}},
		"a status in words": {"llamacpp", map[string]string{
			"GET /v1/models": `{"data":[{"id":"a","status":"ready"},{"id":"debug","status":{"value":"loading"}}]}`},
			Standing{Loading: true}},
		"a status of words, as a value": {"llamacpp", map[string]string{
			"GET /v1/models": `{"data":[{"id":"debug","status":{"value":["loading"]}}]}`}, Standing{}},
		"a status that is a number": {"vllm", map[string]string{
			"GET /v1/models": `{"data":[{"id":"a","status":1,"meta":true},{"id":"b","status":[null]}]}`},
			Standing{Absent: true}},
		"a status that is none": {"vllm", map[string]string{
			"GET /v1/models": `{"data":[{"id":"debug","status":null},{"id":"b","status":false}]}`}, Standing{}},
		"one model": {"llamacpp", map[string]string{
			"GET /v1/models": `{"data":[{"id":"/models/x.gguf"}]}`}, Standing{}},
	} {
		c1, _ := page(t, c.kind, c.pages)
		if got, err := c1.Standing(t.Context(), "debug"); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
	gone := dialUp(t, Config{URL: handle(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })})
	if _, err := gone.Standing(t.Context(), "debug"); !errors.Is(err, engine.ErrReset) {
		t.Errorf("got %v", err)
	}
}

// An engine that does not say whether it sleeps is not asked again, until it may be another.
func TestWhatIsNotOfferedIsNotAskedAgain(t *testing.T) {
	c, seen := page(t, "vllm", nil)
	asked := func() (n int) {
		for _, line := range *seen {
			if line == "GET /is_sleeping" {
				n++
			}
		}
		return n
	}
	for range 3 {
		_, _ = c.Standing(t.Context(), "debug")
	}
	if asked() != 1 {
		t.Errorf("asked %d times", asked())
	}
	c.Away()
	if _, _ = c.Standing(t.Context(), "debug"); asked() != 2 {
		t.Errorf("asked %d times after it was away", asked())
	}
}

// Orders go to the kind's path, or to the one that is given; every status of success is one.
func TestOrdersToSleepAndToWake(t *testing.T) {
	for name, c := range map[string]struct {
		kind, path, answer, asked string
		fails                     bool
	}{
		"vllm":       {"vllm", "", "", "POST /wake_up {}", false},
		"sglang":     {"sglang", "", "", "POST /resume_memory_occupation {}", false},
		"llamacpp":   {"llamacpp", "", `{"success":true}`, `POST /models/load {"model":"debug"}`, false},
		"refused":    {"llamacpp", "", `{"success":false}`, `POST /models/load {"model":"debug"}`, true},
		"accepted":   {"vllm", "", "202 ", "POST /wake_up {}", false},
		"no content": {"vllm", "", "204 ", "POST /wake_up {}", false},
		"its own":    {"openai", "/rise", "", "POST /rise {}", false},
		"failure":    {"vllm", "", "500 out of memory", "POST /wake_up {}", true},
		"redirected": {"vllm", "", "307 ", "POST /wake_up {}", true},
	} {
		path := strings.Fields(c.asked)[1]
		client, seen := page(t, c.kind, map[string]string{"POST " + path: c.answer})
		err := client.Wake(t.Context(), c.path, "debug")
		if (err != nil) != c.fails || (*seen)[0] != c.asked {
			t.Errorf("%s: %v, asked %q, want %q", name, err, *seen, c.asked)
		}
	}
	none, _ := page(t, "openai", nil)
	if err := none.Sleep(t.Context(), "debug"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
