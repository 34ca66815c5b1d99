package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"octet/engine"
)

// Each engine is told by one of its marks alone.
func TestAnEngineIsKnownByWhatItSaysOfItself(t *testing.T) {
	models := func(owner, limit string) string {
		return fmt.Sprintf(`{"object":"list","data":[{"id":"m","object":"model","owned_by":%q,"max_model_len":%s}]}`,
			owner, limit)
	}
	for name, c := range map[string]struct {
		paths map[string]string
		want  Identity
	}{
		"vLLM by its list": {map[string]string{"/v1/models": models("vllm", "4096")},
			Identity{Kind: "vllm", Sure: true, Limit: 4096}},
		"SGLang by its list": {map[string]string{"/v1/models": models("sglang", "8192")},
			Identity{Kind: "sglang", Sure: true, Limit: 8192}},
		"llama.cpp by its list": {map[string]string{"/v1/models": models("llamacpp", "null"),
			"/props": `{"default_generation_settings":{"n_ctx":2048},"n_ctx":8192}`},
			Identity{Kind: "llamacpp", Sure: true, Limit: 2048}},
		"llama.cpp without props": {map[string]string{"/v1/models": models("llamacpp", "null")},
			Identity{Kind: "llamacpp", Sure: true, Limit: 0}},
		"vLLM by its metrics": {map[string]string{"/v1/models": models("me", "4096"),
			"/metrics": "# HELP x\nvllm:num_requests_running 0\n"}, Identity{Kind: "vllm", Sure: true, Limit: 4096}},
		"SGLang by its metrics": {map[string]string{"/metrics": "sglang:num_running_reqs 0\n"},
			Identity{Kind: "sglang", Sure: true, Limit: 0}},
		"llama.cpp by its props": {map[string]string{"/props": `{"default_generation_settings":{"n_ctx":512}}`},
			Identity{Kind: "llamacpp", Sure: true, Limit: 512}},
		"SGLang by its server info": {map[string]string{"/get_server_info": `{"tp_size":1}`},
			Identity{Kind: "sglang", Sure: true, Limit: 0}},
		"perhaps vLLM": {map[string]string{"/version": `{"version":"0.9"}`},
			Identity{Kind: "vllm", Sure: false, Limit: 0}},
		"an emulated engine": {map[string]string{"/v1/models": models("octet", "1024")},
			Identity{Kind: "vllm", Sure: false, Limit: 1024}},
		"a gateway of ours": {map[string]string{
			"/v1/models": `{"data":[{"id":"octet","owned_by":"octet"},{"id":"m","owned_by":"octet"}]}`},
			Identity{Kind: "openai", Sure: false, Limit: 0}},
		"a list that is none": {map[string]string{"/v1/models": `[1`}, Identity{Kind: "openai", Sure: false, Limit: 0}},
		"anything else": {map[string]string{"/v1/models": models("me", "null"), "/version": `"7"`,
			"/props": `[]`}, Identity{Kind: "openai", Sure: false, Limit: 0}},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, ok := c.paths[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, body)
		}))
		client, err := New(Config{URL: s.URL, Engine: engine.Auto})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := client.Identify(t.Context(), "m"); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		s.Close()
		if _, err := client.Identify(t.Context(), "m"); err == nil {
			t.Errorf("%s: nothing listens, and no error", name)
		}
		_ = client.Close()
	}
}

// An engine of unknown kind is healthy by /health, or by its model list where it has no /health.
func TestAnUnknownEnginesHealthIsAskedWhereItHasIt(t *testing.T) {
	for path, status := range map[string]int{"/health": 200, engine.ModelsPath: 200, "/elsewhere": 404} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
			}
		}))
		client, err := New(Config{URL: s.URL, Engine: engine.Auto})
		if err != nil {
			t.Fatal(err)
		}
		if err := client.Probe(t.Context()); (err == nil) != (status == 200) {
			t.Errorf("%s: %v", path, err)
		}
		_ = client.Close()
		s.Close()
	}
}

// An engine that is loading says nothing of what it is: it must be asked again.
func TestAnEngineThatLoadsIsNotIdentified(t *testing.T) {
	c, _ := page(t, engine.Auto, map[string]string{"GET /v1/models": "503 loading"})
	if id, err := c.Identify(t.Context(), "m"); err == nil {
		t.Errorf("it is taken for %+v", id)
	}
}

// A door is served where a GET is refused for its method; where there is no such path, or anything answers, it is not
// known to be. Kinds that are not known to serve one are not asked.
func TestAnEngineTellsWhichDoorsItServes(t *testing.T) {
	for name, c := range map[string]struct {
		owner   string
		answers map[string]string
		want    engine.Doors
	}{
		"both": {"vllm", map[string]string{"GET /v1/messages": "405 no", "GET /v1/responses": "405 no"},
			engine.Messages | engine.Responses},
		"one":                 {"vllm", map[string]string{"GET /v1/messages": "405 no"}, engine.Messages},
		"an answer":           {"vllm", map[string]string{"GET /v1/messages": "{}"}, 0},
		"another kind":        {"llamacpp", map[string]string{"GET /v1/messages": "405 no"}, 0},
		"of which no more is": {"me", map[string]string{"GET /v1/responses": "405 no"}, engine.Responses},
	} {
		c.answers["GET /v1/models"] = `{"data":[{"id":"m","owned_by":"` + c.owner + `"}]}`
		client, _ := page(t, engine.Auto, c.answers)
		if id, err := client.Identify(t.Context(), "m"); err != nil || id.Doors != c.want {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}
