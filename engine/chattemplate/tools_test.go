package chattemplate

import "testing"

// Tools reach a template with the members that their engine gives them, in its order.
func TestToolsReachTheTemplateInTheirEnginesForm(t *testing.T) {
	one, err := New("{{ tools | tojson if tools else 'none' }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	member := func(name, missing string) struct{ Name, Missing string } {
		return struct{ Name, Missing string }{name, missing}
	}
	vllm := ToolForm{Function: []struct{ Name, Missing string }{member("name", ""), member("description", "null")},
		Others: true}
	sglang := ToolForm{Function: []struct{ Name, Missing string }{member("description", "null"), member("name", ""),
		member("strict", "false")}}
	chosen := sglang
	chosen.Only = "b"
	const given = `[{"function":{"strict":true,"name":"a"},"x":1,"type":"function"},` +
		`{"function":{"description":"d","name":"b"}},7]`
	for want, form := range map[string]ToolForm{
		`[{"function": {"strict": true, "name": "a"}, "x": 1, "type": "function"}, ` +
			`{"function": {"description": "d", "name": "b"}}, 7]`: {},
		`[{"type": "function", "function": {"name": "a", "description": null, "strict": true}, "x": 1}, ` +
			`{"type": "function", "function": {"name": "b", "description": "d"}}, 7]`: vllm,
		`[{"type": "function", "function": {"description": null, "name": "a", "strict": true}}, ` +
			`{"type": "function", "function": {"description": "d", "name": "b", "strict": false}}, 7]`: sglang,
		`[{"type": "function", "function": {"description": "d", "name": "b", "strict": false}}, 7]`: chosen,
	} {
		got, err := one.Render(nil, Chat{Messages: []byte("[]"), Tools: []byte(given), Form: form})
		if err != nil || string(got) != want {
			t.Errorf("%v\n%s, want\n%s", err, got, want)
		}
	}
	if got, err := one.Render(nil, Chat{Messages: []byte("[]"), Form: vllm}); err != nil || string(got) != "none" {
		t.Errorf("%v: without tools: %s", err, got)
	}
}
