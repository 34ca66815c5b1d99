package tokenizers

import (
	"errors"
	"strings"
	"testing"

	"octet/engine"
	"octet/routing"
	"octet/routing/plugins"
)

// What an engine is asked to tokenize has the tools that its chats would have.
func TestAnEngineIsAskedForTheToolsOfItsKind(t *testing.T) {
	for choice, want := range map[string]map[string]string{
		`"none"`: {"vllm": "tools", "sglang": "none"}, `"auto"`: {"vllm": "tools", "sglang": "tools"},
		`{"type":"function","function":{"name":"f"}}`: {"vllm": "tools", "sglang": "refused"},
	} {
		for name, want := range want {
			kind, _ := engine.AllKinds().Named(name)
			f := routing.Facts{Kind: "chat", Body: []byte(`{"messages":[{"role":"user","content":"x"}],"tools":` +
				`[{"type":"function","function":{"name":"f"}}],"tool_choice":` + choice + `}`)}
			body, err := question("m", &f, &kind.Rendering)
			got := "none"
			if strings.Contains(string(body), `"tools":`) {
				got = "tools"
			}
			if errors.Is(err, plugins.ErrNoTokenizer) {
				got = "refused"
			}
			if got != want {
				t.Errorf("%s of %s: %s, want %s", choice, name, got, want)
			}
		}
	}
}
