package wire

import "testing"

// A tool is a client's to run if it is a function or a custom tool; of any other type an engine may run it.
func TestToolsThatEnginesRun(t *testing.T) {
	const function = `{"type":"function","function":{"name":"f","parameters":{"type":"mcp"}}}`
	for tools, want := range map[string]bool{
		`[]`: false, `null`: false, `[` + function + `]`: false, `[{"function":{"name":"f"}}]`: false,
		`[{"type":"custom","custom":{"name":"c"}},` + function + `]`: false,
		`[{"type":"\u0066unction"}]`:                                 false,
		`[` + function + `,{"type":"mcp","server_url":"x"}]`:         true,
		`[{"type":"code_interpreter"},` + function + `]`:             true,
		`[{"type":null}]`: true, `[{"type":["function"]}]`: true, `[ { "type" : "Function" } ]`: true,
	} {
		var r Request
		body := `{"messages":[{"role":"user","content":"hi"}],"tools":` + tools + `}`
		if err := Parse(Chat, []byte(body), Limits{}, &r); err != nil {
			t.Fatalf("%s: %v", tools, err)
		}
		if got := r.EngineRuns(); got != want {
			t.Errorf("%s: %v", tools, got)
		}
	}
	var r Request
	if err := Parse(Completion, []byte(`{"prompt":"hi"}`), Limits{}, &r); err != nil || r.EngineRuns() {
		t.Errorf("a prompt offers none: %v", err)
	}
}
