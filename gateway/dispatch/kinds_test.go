package dispatch

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
)

// A further kind of engine is one literal: all that the gateway does with a replica follows from its columns.
func TestAFurtherKindOfEngineIsOneLiteral(t *testing.T) {
	made := engine.Kind{
		Name: "made-up", Bit: engine.SGLang, AdapterSuffix: true, LowFirst: true,
		Streams: engine.Streams{Counted: engine.CountsTimings, Untidy: true},
	}
	w := &sink{header: http.Header{}, keep: true}
	x := stage(t, w)
	x.turn.rep.Kind, x.turn.rep.Model, x.turn.rep.ForwardPriority = made, "m", true
	x.Request.Intent.Priority, x.Plan.Adapter = 7, "red"
	body := `{"model":"s","messages":[{"role":"user","content":"x"}],"stream":true}`
	if err := wire.Parse(wire.Chat, []byte(body), wire.Limits{}, &x.Request.Parsed); err != nil {
		t.Fatal(err)
	}
	var sent []string
	hop := new(ensemble.Hop)
	attempt{x.Dispatch}.prepare(hop, &routing.Step{Name: x.steps.answering}, x.turn.rep)
	for _, e := range hop.Edits {
		sent = append(sent, e.Key+"="+string(e.Raw))
	}
	want := []string{`model="m:red"`, "priority=-7", "timings_per_token=true"}
	if !slices.Equal(sent, want) {
		t.Errorf("the engine is sent %v, want %v", sent, want)
	}
	chunk := `data: {"choices":[{"index":0,"delta":{"content":"x"}}],"timings":{"predicted_n":1}}` + "\n\n"
	if err := x.play(&tape{pieces: [][]byte{[]byte(chunk), []byte("data: [DONE]\n\n")}, end: io.EOF}); err != nil {
		t.Fatal(err)
	}
	if got := w.body.String(); !strings.Contains(got, `"role":"assistant"`) || strings.Contains(got, "timings") {
		t.Errorf("the client was sent %s", got)
	}
}
