package shadow

import (
	"encoding/json"

	"octet/calibration"
	"octet/gateway/wire"
)

// Comparable reports whether answers to q can be held against each other: there is one to each request, and a copy of
// the request does nothing but answer. An engine that runs tools by itself would run them twice.
func Comparable(q *wire.Request) bool {
	return q.N <= 1 && q.BestOf <= 1 && q.Prompts() <= 1 && !q.Beam && !q.Echo && !q.EngineRuns()
}

// rulesFor returns r with what a request asks of its answer.
func rulesFor(r calibration.Rules, q *wire.Request) calibration.Rules {
	r.JSON = asksJSON(q)
	if q.Tools {
		r.Tools = offered(q)
		r.MustCall = mustCall(q)
	}
	return r
}

// asksJSON reports whether the text of an answer is to be JSON.
func asksJSON(q *wire.Request) bool {
	var format struct{ Type string }
	var outputs struct {
		JSON   json.RawMessage
		Object bool `json:"json_object"`
	}
	read(q, "response_format", &format)
	read(q, "structured_outputs", &outputs)
	return format.Type == "json_object" || format.Type == "json_schema" || outputs.Object || given(outputs.JSON) ||
		given(q.Raw("guided_json")) || given(q.Raw("json_schema"))
}

// read decodes a member of a body, as far as it is what into takes.
func read(q *wire.Request, member string, into any) {
	if raw := q.Raw(member); given(raw) {
		_ = json.Unmarshal(raw, into) // what is otherwise says nothing here
	}
}

// given reports whether a member is there, and not null.
func given(raw []byte) bool { return len(raw) > 0 && raw[0] != 'n' }

// named is what has a name: a function, or a custom tool.
type named struct{ Name string }

// offered returns the names of the tools that an answer may call.
func offered(q *wire.Request) []string {
	var tools []struct {
		named
		Function, Custom named
	}
	var functions []named
	read(q, "tools", &tools)
	read(q, "functions", &functions)
	names := make([]string, 0, len(tools)+len(functions))
	for i := range tools {
		t := &tools[i]
		names = append(names, t.Function.Name+t.Custom.Name+t.Name)
	}
	for i := range functions {
		names = append(names, functions[i].Name)
	}
	return names
}

// mustCall reports whether every answer has to call a tool.
func mustCall(q *wire.Request) bool {
	raw := q.Raw("tool_choice")
	if !given(raw) {
		raw = q.Raw("function_call")
	}
	if !given(raw) {
		return false
	}
	if raw[0] == '"' {
		var word string
		return json.Unmarshal(raw, &word) == nil && (word == "required" || word == "any")
	}
	var choice struct {
		named
		Type             string
		Function, Custom *named
		Allowed          struct{ Mode string } `json:"allowed_tools"`
	}
	if json.Unmarshal(raw, &choice) != nil {
		return false
	}
	return choice.Allowed.Mode == "required" ||
		choice.Type != "allowed_tools" && (choice.Function != nil || choice.Custom != nil || choice.Name != "")
}
