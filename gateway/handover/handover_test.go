package handover

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"octet/engine"
	"octet/engine/enginetest"
	"octet/gateway/ensemble"
	"octet/gateway/wire"
	"octet/routing"
	"octet/routing/fleet"
)

// hopOf is a dispatch of a body to a replica of one kind, at a step.
func hopOf(t testing.TB, step, kindName, body string) *ensemble.Hop {
	t.Helper()
	kind := wire.Chat
	if bytes.Contains([]byte(body), []byte(`"prompt"`)) {
		kind = wire.Completion
	}
	r := new(wire.Request)
	if err := wire.Parse(kind, []byte(body), wire.Limits{}, r); err != nil {
		t.Fatal(err)
	}
	f := fleet.New()
	member, err := f.Put(fleet.Spec{Name: "r", Specialist: "s", URL: "http://10.1.2.3:30000", Role: fleet.RoleDecode,
		BlockSize: 16, OnlyHanded: kindName == "sglang"})
	if err != nil {
		t.Fatal(err)
	}
	return &ensemble.Hop{
		Step: routing.Step{Name: step},
		Replica: &ensemble.Replica{Name: "r", Model: "m", Kind: enginetest.Kind(t, kindName), Fleet: member,
			BootstrapPort: 8998},
		Client: r,
		Kind:   kind, RequestID: "id",
		Path: "/v1", Stream: r.Stream,
	}
}

// sent is what the replica gets of a hop, as JSON.
func sent(t testing.TB, h *ensemble.Hop) (body map[string]any) {
	t.Helper()
	raw := h.Body
	if raw == nil {
		segments, err := h.Client.Splice(h.Edits, nil)
		if err != nil {
			t.Fatal(err)
		}
		raw = bytes.Join(segments, nil)
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return body
}

func object(text string) (o map[string]any) {
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	return o
}

//nolint:lll // raw text that cannot be broken
const (
	chatBody  = `{"model":"debug","stream":true,"stream_options":{"include_usage":true},"max_tokens":50,"max_completion_tokens":40,"min_tokens":5,"n":2,"messages":[{"role":"user","content":"x"}],"top_k":3}`
	plainBody = `{"model":"debug","prompt":"x y"}`
	listBody  = `{"model":"debug","prompt":["x","y"]}`
	listMeets = `{"model":"debug","prompt":["x","y"],"bootstrap_host":["10.1.2.3","10.1.2.3"],"bootstrap_port":[8998,8998],"bootstrap_room":[77,78]}`
)

// What goes out, member by member, as vLLM's and SGLang's engines take it.
//
//nolint:lll // raw text that cannot be broken
func TestWhatTheEnginesOfAHandoverAreSent(t *testing.T) {
	pull, meet := &Protocol{}, &Protocol{Room: func() int64 { return 77 }}
	rooms := int64(76)
	meetings := &Protocol{Room: func() int64 { rooms++; return rooms }}
	params :=
		`{"do_remote_prefill":true,"do_remote_decode":false,"remote_block_ids":[[1,2]],"remote_engine_id":"e","remote_port":5600,"later":{"more":[1]}}`
	for _, c := range []struct {
		name string
		of   *Protocol
		hop  *ensemble.Hop
		want string
	}{
		{"tokens", &Protocol{}, hopOf(t, Preprocess, "vllm", plainBody), `{"model":"m","prompt":"x y"}`},
		{"tokens of a chat", &Protocol{}, hopOf(t, Preprocess, "sglang", chatBody),
			`{"model":"m","messages":[{"role":"user","content":"x"}]}`},
		{"prefill by vLLM", pull, hopOf(t, Prefill, "vllm", chatBody), `{"model":"debug","stream":false,"stream_options":null,"max_tokens":1,"max_completion_tokens":1,"min_tokens":0,"n":1,
			"messages":[{"role":"user","content":"x"}],"top_k":3,"kv_transfer_params":{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}}`},
		{"decode without", pull, hopOf(t, Decode, "vllm", plainBody), plainBody},
		{"decode by vLLM", &Protocol{params: []byte(params)}, hopOf(t, Decode, "vllm", plainBody),
			`{"model":"debug","prompt":"x y","kv_transfer_params":` + params + `}`},
		{"decode by another kind", &Protocol{params: []byte(params)}, hopOf(t, Decode, "llamacpp", plainBody),
			plainBody},
		{"decode from tokens", &Protocol{tokens: []byte("[7,8]")}, hopOf(t, Decode, "vllm", plainBody),
			`{"model":"debug","prompt":[7,8]}`},
		{"tokens are not for chats", &Protocol{tokens: []byte("[7,8]")}, hopOf(t, Decode, "vllm", chatBody),
			chatBody},
		{"prefill by SGLang", meet, hopOf(t, Prefill, "sglang", plainBody),
			`{"model":"debug","prompt":"x y","bootstrap_host":"10.1.2.3","bootstrap_port":8998,"bootstrap_room":77}`},
		{"decode by SGLang", meet, hopOf(t, Decode, "sglang", plainBody),
			`{"model":"debug","prompt":"x y","bootstrap_host":"10.1.2.3","bootstrap_port":8998,"bootstrap_room":77}`},
		{"prefill of a list by SGLang", meetings, hopOf(t, Prefill, "sglang", listBody), listMeets},
		{"decode of a list by SGLang", meetings, hopOf(t, Decode, "sglang", listBody), listMeets},
	} {
		if err := c.of.Request(c.hop); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(object(c.want), sent(t, c.hop)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestReplicasThatHaveNoPartInAHandoverAreNotTried(t *testing.T) {
	for name, h := range map[string]*ensemble.Hop{
		"an engine that hands nothing over": hopOf(t, Prefill, "openai", plainBody),
		"several prompts":                   hopOf(t, Prefill, "vllm", `{"model":"debug","prompt":["a","b"]}`),
		"one of a pair, alone":              hopOf(t, Decode, "sglang", plainBody),
		"tokens already":                    hopOf(t, Preprocess, "vllm", `{"model":"debug","prompt":[1,2]}`),
		"an engine without a tokenizer":     hopOf(t, Preprocess, "llamacpp", plainBody),
	} {
		if err := new(Protocol).Request(h); !errors.Is(err, routing.ErrNotTried) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := new(Protocol).Request(hopOf(t, Prefill, "vllm", `{"model":"debug","prompt":[1,2]}`)); err != nil {
		t.Errorf("one prompt of tokens: %v", err)
	}
}

// A sidecar asks the prefilling engine itself: that one is sent nothing, and the decode is told where it is.
func TestASidecarIsToldWhichEnginePrefills(t *testing.T) {
	p, prefill, decode := &Protocol{}, hopOf(t, Prefill, "vllm", plainBody), hopOf(t, Decode, "vllm", plainBody)
	decode.Replica.PrefillHeader = true
	prefill.Answerer = decode.Replica
	for _, h := range []*ensemble.Hop{prefill, decode} {
		if err := p.Request(h); err != nil {
			t.Fatal(err)
		}
	}
	want := []engine.Field{{Name: "X-Prefiller-Host-Port", Value: "10.1.2.3:30000"}}
	if !prefill.Unasked || !decode.Handed || !slices.Equal(decode.Fields, want) {
		t.Errorf("the prefill is unasked: %v; the decode is sent %v", prefill.Unasked, decode.Fields)
	}
}

// What vLLM's engine answers goes to the decode as it came, until it is forgotten. Token ids stay.
func TestAnAnswerIsPassedOnUntilItIsForgotten(t *testing.T) {
	const params = `{"remote_engine_id":"e","remote_block_ids":[[1,2]]}`
	p, prefill := &Protocol{}, hopOf(t, Prefill, "vllm", plainBody)
	if err := p.Answer(hopOf(t, Preprocess, "vllm", plainBody), []byte(`{"tokens":[7,8],"count":2}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.Answer(prefill, []byte(`{"kv_transfer_params":`+params+`}`)); err != nil || !prefill.Hold {
		t.Fatalf("held: %v, %v", prefill.Hold, err)
	}
	decodes := func(want string) {
		t.Helper()
		h := hopOf(t, Decode, "vllm", plainBody)
		if err := p.Request(h); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(object(want), sent(t, h)); diff != "" {
			t.Error(diff)
		}
	}
	decodes(`{"model":"debug","prompt":[7,8],"kv_transfer_params":` + params + `}`)
	if !p.Forget() || p.Forget() {
		t.Error("there is one handover to forget")
	}
	decodes(`{"model":"debug","prompt":[7,8]}`)
}

// Whatever an engine answers, the next step's request is one that can be sent, or the step has failed.
func FuzzHandoverTakesAnyAnswer(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `{"kv_transfer_params":null}`,
		`{"kv_transfer_params":{"do_remote_prefill":true,"remote_block_ids":[[1]]}}`, `{"tokens":[1,2,3],"count":3}`,
		`{"kv_transfer_params":{"a":1,"a":2}}`, `{"kv_transfer_params":{"a":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]}}`,
		`{"tokens":[1e5,-2,"7"]}`, `{"tokens":[]}`, "{\"kv_transfer_params\":{\"\xff\":1}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, step := range []string{Preprocess, Prefill} {
			o := &Protocol{}
			if o.Answer(hopOf(t, step, "vllm", plainBody), body) != nil {
				continue
			}
			next := hopOf(t, Decode, "vllm", plainBody)
			if err := o.Request(next); err != nil {
				t.Fatal(err)
			}
			segments, err := next.Client.Splice(next.Edits, nil)
			if err != nil || !wire.Valid(bytes.Join(segments, nil), 64) {
				t.Fatalf("%v: %s", err, bytes.Join(segments, nil))
			}
		}
	})
}

// A further kind of engine is one literal: its part in a handover follows from its columns.
func TestAFurtherKindOfEngineTakesPartByItsColumns(t *testing.T) {
	h := hopOf(t, Preprocess, "vllm", `{"model":"s","messages":[{"role":"user","content":"x"}],"stream":true}`)
	h.Replica.Kind = engine.Kind{Name: "made-up", TokenizesChats: true, Transfer: engine.TransfersByPull,
		Paths: engine.Paths{Tokenize: "/made-up/tokenize"}}
	p := &Protocol{}
	if err := p.Request(h); err != nil || h.Path != "/made-up/tokenize" {
		t.Errorf("tokens are asked for at %q: %v", h.Path, err)
	}
	h.Step.Name = Prefill
	if err := p.Request(h); err != nil || !slices.ContainsFunc(h.Edits, func(e wire.Edit) bool {
		return e.Key == "kv_transfer_params"
	}) {
		t.Errorf("a prefill's edits are %v: %v", h.Edits, err)
	}
}
