package upstream

import (
	"strings"
	"testing"

	"octet/engine"
	"octet/gateway/ensemble"
	"octet/gateway/intake"
	"octet/gateway/tenant"
	"octet/gateway/wire"
)

// request is one of tenant acme.
func request(t *testing.T, body string, priority int) *intake.Request {
	t.Helper()
	r := &intake.Request{ID: "r-1", Kind: wire.Chat, Tenant: &tenant.Tenant{Name: "acme"},
		Body: &intake.Body{Bytes: []byte(body)}, Intent: intake.Intent{Priority: priority}}
	if err := wire.Parse(wire.Chat, r.Bytes, wire.Limits{}, &r.Parsed); err != nil {
		t.Fatal(err)
	}
	r.Stream = r.Parsed.Stream
	return r
}

// sent is the body that a replica's engine is sent.
func sent(t *testing.T, r *intake.Request, rep *ensemble.Replica, adapter string, last bool) string {
	t.Helper()
	h := &ensemble.Hop{Replica: rep, Last: last}
	Prepare(h, r, adapter, nil)
	segments, err := Segments(h, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range segments {
		b.Write(s)
	}
	return b.String()
}

// What an engine is sent is the client's body, but for the members that must change.
func TestAnEngineIsSentTheClientsBody(t *testing.T) {
	kind, ok := engine.AllKinds().Named("vllm")
	if !ok {
		t.Fatal("no engine kind vllm")
	}
	const body = `{"model":"debug", "messages":[{"role":"user","content":"why"}],"x":[1, 2]}`
	for name, c := range map[string]struct {
		body, adapter string
		model         string
		priority      int
		forward, last bool
		want          string
	}{
		"as it came":           {body, "", "debug", 0, true, true, body},
		"by the engine's name": {body, "", "d-7b", 0, true, true, strings.Replace(body, `"debug"`, `"d-7b"`, 1)},
		"by its adapter":       {body, "red", "debug", 0, true, true, strings.Replace(body, `"debug"`, `"red"`, 1)},
		"with its priority": {body, "", "debug", 7, true, true,
			strings.Replace(body, `{"model"`, `{"priority":-7,"model"`, 1)},
		"without its priority": {body, "", "debug", 7, false, true, body},
		"with one count": {
			`{"model":"debug","messages":[{"role":"user","content":"x"}],"max_tokens":5,"max_completion_tokens":3}`, "",
			"debug", 0, true, true,
			`{"model":"debug","messages":[{"role":"user","content":"x"}],"max_tokens":3,"max_completion_tokens":3}`},
		"with a top_p that it takes": {
			strings.Replace(body, `"x":[1, 2]`, `"top_p":0.0`, 1), "", "debug", 0, true, true,
			strings.Replace(body, `"x":[1, 2]`, `"top_p":1e-6`, 1)},
		"a leg": {
			`{"model":"debug","messages":[{"role":"user","content":"x"}],"max_tokens":5,"max_completion_tokens":3}`, "",
			"debug", 0, true, false,
			`{"model":"debug","messages":[{"role":"user","content":"x"}],"max_tokens":5,"max_completion_tokens":3}`},
	} {
		rep := &ensemble.Replica{Name: "debug-0", Model: c.model, Kind: kind, ForwardPriority: c.forward}
		rep.Seal()
		if got := sent(t, request(t, c.body, c.priority), rep, c.adapter, c.last); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestARankIsNamedInTheBodyWhereItsKindReadsIt(t *testing.T) {
	const body = `{"model":"debug","messages":[{"role":"user","content":"why"}]}`
	two := 2
	for _, c := range []struct {
		kind string
		rank *int
		want bool
	}{{"sglang", &two, true}, {"sglang", nil, false}, {"vllm", &two, false}} {
		kind, _ := engine.AllKinds().Named(c.kind)
		rep := &ensemble.Replica{Model: "debug", Kind: kind, Rank: engine.RankOf(c.rank)}
		got := sent(t, request(t, body, 0), rep, "", true)
		if strings.Contains(got, `"routed_dp_rank":2`) != c.want || !c.want && strings.Contains(got, "rank") {
			t.Errorf("%s: %s", c.kind, got)
		}
	}
}

// A Protocol's own body goes out in place of the client's; fields and key are the replica's.
func TestAHopsOwnBodyGoesOutInPlaceOfTheClients(t *testing.T) {
	rep := &ensemble.Replica{Name: "debug-0", Model: "debug", APIKey: "key"}
	rep.Seal()
	r := request(t, `{"model":"debug","messages":[{"role":"user","content":"x"}],"stream":true}`, 0)
	h := &ensemble.Hop{Replica: rep}
	Prepare(h, r, "", nil)
	h.Body = []byte("{}")
	h.AddField("X-One", "1")
	segments, err := Segments(h, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var q engine.Request
	Fill(&q, h, r, segments)
	if len(q.Segments) != 1 || string(q.Segments[0]) != "{}" || q.Bearer != "key" || q.RequestID != "r-1" ||
		q.Path != "/v1/chat/completions" || !q.Stream || len(q.Fields) != 1 || q.Fields[0].Name != "X-One" {
		t.Errorf("%+v", q)
	}
}
