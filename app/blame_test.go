package app_test

import (
	"bytes"
	"testing"
)

// B2: an engine that obeys a parameter of the client's, and so says more than was to be expected, is not broken.
func TestAParameterOpensNoBreaker(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	w.Fault("systems-0", `{"kind":"overrun","k":40,"times":20}`)
	for range 20 {
		_, answer := w.Post("/v1/chat/completions", streamed(systems), "X-Request-Id", "one")
		if s := readStream(bytes.NewReader(answer)); !s.done || s.text != indexText("one", 12) ||
			!bytes.Contains(answer, []byte(`"finish_reason":"length"`)) {
			t.Fatalf("%+v in %s", s, answer)
		}
	}
	if rep := w.Replica("systems-0").Fleet; rep.State() != "closed" {
		t.Errorf("the breaker is %s", rep.State())
	}
	if resp, answer := w.Post("/v1/chat/completions", systems); resp.StatusCode != 200 {
		t.Errorf("a bystander is answered %d: %s", resp.StatusCode, answer)
	}
}
