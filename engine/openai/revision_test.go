package openai

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What tells the weights is the revision: not when a model was created, which is the time of the question or of the
// start, and not the engine's build. What an engine does not say is no revision.
func TestARevisionIsWhatTellsWeights(t *testing.T) {
	list := func(entry string) string { return `{"object":"list","data":[` + entry + `]}` }
	for name, c := range map[string]struct {
		kind  string
		paths map[string]string
		want  string
	}{
		"vLLM, by root": {"vllm", map[string]string{
			"/v1/models": list(`{"id":"m","created":%d,"root":"/models/m-7b-2","owned_by":"vllm"}`)}, "/models/m-7b-2"},
		"vLLM, beside an adapter": {"vllm", map[string]string{"/v1/models": list(
			`{"id":"served","created":%d,"root":"/models/m"},{"id":"a","created":1,"root":"/a","parent":"served"}`)},
			"/models/m"},
		"vLLM, of two models neither of which is asked for": {"vllm", map[string]string{
			"/v1/models": list(`{"id":"a","created":%d,"root":"/a"},{"id":"b","root":"/b"}`)}, ""},
		"SGLang, by path and version": {"sglang", map[string]string{
			"/get_model_info": `{"model_path":"q/m","weight_version":"7","is_generation":true,"start":%d}`}, "q/m@7"},
		"SGLang without versions": {"sglang", map[string]string{
			"/get_model_info": `{"model_path":"q/m","start":%d}`}, "q/m"},
		"SGLang by the newer path": {"sglang", map[string]string{
			"/model_info": `{"model_path":"q/m","weight_version":"default","start":%d}`}, "q/m@default"},
		"SGLang that says something else": {"sglang", map[string]string{
			"/get_model_info": `{"model_path":["%d"],"weight_version":null}`, "/model_info": `7`}, ""},
		"llama.cpp, by path and size": {"llamacpp", map[string]string{
			"/props":     `{"model_path":"/m.gguf","build_info":"b%d-x","total_slots":4}`,
			"/v1/models": list(`{"id":"m","created":%d,"owned_by":"llamacpp","meta":{"size":4096,"n_params":7}}`)},
			"/m.gguf@4096"},
		"llama.cpp, by path": {"llamacpp", map[string]string{"/props": `{"model_path":"/m.gguf","build_info":"b%d"}`},
			"/m.gguf"},
		"a list with another's meta": {"vllm", map[string]string{
			"/v1/models": list(`{"id":"m","created":%d,"root":"r","meta":["x"]}`)}, "r"},
		"a root that is too long": {"vllm", map[string]string{
			"/v1/models": list(`{"id":"m","created":%d,"root":"` + strings.Repeat("r", 600) + `"}`)},
			strings.Repeat("r", maxRevision)},
		"a server of the OpenAI API": {"openai", map[string]string{
			"/v1/models": list(`{"id":"m","created":%d,"root":"r"}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			times := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, ok := c.paths[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				times++
				fmt.Fprint(w, strings.ReplaceAll(body, "%d", fmt.Sprint(times)))
			}))
			defer s.Close()
			client, err := New(Config{URL: s.URL, Engine: c.kind})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			for range 2 {
				if got, err := client.Revision(t.Context(), "m"); got != c.want || err != nil {
					t.Errorf("%q, %v; want %q", got, err, c.want)
				}
			}
			if id, err := client.Identify(t.Context(), "m"); id.Kind == c.kind && id.Revision != c.want || err != nil {
				t.Errorf("identified as %+v, %v", id, err)
			}
			if s.Close(); c.kind != "openai" {
				if _, err := client.Revision(t.Context(), "m"); err == nil {
					t.Error("nothing listens, and no error")
				}
			}
		})
	}
}
