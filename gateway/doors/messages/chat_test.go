package messages

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"octet/gateway/doors/doorstest"
	"octet/gateway/wire"
)

// body is a Messages body around members.
func body(members string) string { return `{"model":"octet","max_tokens":9,` + members + `}` }

const hi = `"messages":[{"role":"user","content":"hi"}]`

// chatOf is what becomes of a body, without its model and most tokens.
func chatOf(t *testing.T, in string) string {
	t.Helper()
	out, _, err := doorstest.Translate(Door{}, in)
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	if err := wire.Parse(wire.Chat, out, wire.Limits{}, new(wire.Request)); err != nil {
		var bad *wire.Error
		if !errors.As(err, &bad) || bad.Code != wire.CodeUnsupportedContent {
			t.Errorf("%s is no chat completion: %v", out, err)
		}
	}
	const front, most = `{"model":"octet",`, `"max_tokens":9`
	if !strings.HasPrefix(string(out), front) || !strings.Contains(string(out), most) {
		t.Errorf("%s lacks its model or its most tokens", out)
	}
	said := strings.Replace(strings.TrimPrefix(string(out), front), ","+most, "", 1)
	return strings.TrimSuffix(said, "}")
}

const hiChat = `"messages":[{"role":"user","content":"hi"}]`

func TestWhatABodyBecomes(t *testing.T) {
	const call = `{"role":"assistant","content":[{"type":"thinking","thinking":"so","signature":""},` +
		`{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"ls","input":{"at":"a\"b"}}]}`
	const calls = `{"role":"assistant","reasoning_content":"so","content":"I look","tool_calls":[{"id":"t1",` +
		`"type":"function","function":{"name":"ls","arguments":"{\"at\":\"a\\\"b\"}"}}]}`
	const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}`
	for name, c := range map[string]struct{ in, out string }{
		"a text": {hi, hiChat},
		"escapes": {`"messages":[{"content":"\u00e9\n\"","role":"user"}]`,
			`"messages":[{"role":"user","content":"\u00e9\n\""}]`},
		"a system prompt": {hi + `,"system":"be brief"`,
			`"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]`},
		"system blocks": {
			hi +
				`,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"text":"b",` +
				`"type":"text"}]`,
			`"messages":[{"role":"system","content":"ab"},` +
				`{"role":"user","content":"hi"}]`},
		"no system block": {hi + `,"system":[]`, hiChat},
		"a line for the provider": {hi + `,"system":[{"type":"text","text":"x-anthropic-billing-header: cch=1;"},` +
			`{"type":"text","text":"b"}]`,
			`"messages":[{"role":"system","content":"b"},{"role":"user","content":"hi"}]`},
		"only that": {hi + `,"system":[{"type":"text","text":"x-anthropic-billing-header: cch=1;"}]`, hiChat},
		"that line of a text": {hi + `,"system":"x-anthropic-billing-header: cch=1;\nbe brief\n"`,
			`"messages":[{"role":"system","content":"be brief\n"},{"role":"user","content":"hi"}]`},
		"that line further on": {hi + `,"system":"be brief\nx-anthropic-billing-header: cch=1;"`,
			`"messages":[{"role":"system","content":"be brief\nx-anthropic-billing-header: cch=1;"},` +
				`{"role":"user","content":"hi"}]`},
		"the system between turns": {`"messages":[{"role":"user","content":"hi"},{"role":"system","content":` +
			`[{"type":"text","text":"a"}]},{"role":"system","content":"b"}]`,
			`"messages":[{"role":"user","content":"hi"},{"role":"system","content":"a"},` +
				`{"role":"system","content":"b"}]`},
		"a tool loop": {`"messages":[{"role":"user","content":"go"},` + call +
			`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"text",` +
			`"text":"on"}]}]`,
			`"messages":[{"role":"user","content":"go"},` + calls +
				`,{"role":"tool","tool_call_id":"t1","content":"x"},{"role":"user","content":[{"type":"text",` +
				`"text":"on"}]}]`},
		"text on both sides of a call": {`"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},` +
			`{"type":"tool_use","id":"t1","name":"ls","input":{}},{"type":"text","text":"b"}]},` + result + `]`,
			`"messages":[{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],` +
				`"tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"t1","content":"x"}]`},
		"results of all kinds": {`"messages":[{"role":"user","content":[` +
			`{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b","is_error":true,` +
			`"content":"no"},` +
			`{"type":"tool_result","tool_use_id":"c","is_error":true,"content":[{"type":"text","text":"no"}]},` +
			`{"type":"tool_result","tool_use_id":"d","content":[]}]}]`,
			`"messages":[{"role":"tool","tool_call_id":"a","content":""},{"role":"tool","tool_call_id":"b",` +
				`"content":"Error: no"},` +
				`{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"Error: "},{"type":"text",` +
				`"text":"no"}]},` +
				`{"role":"tool","tool_call_id":"d","content":[{"type":"text","text":""}]}]`},
		"images": {
			`"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64",` +
				`"media_type":"image/png","data":"AA=="}},` +
				`{"type":"image","source":{"type":"url","url":"https://a/b"}}]}]`,
			`"messages":[{"role":"user","content":[{"type":"image_url",` +
				`"image_url":{"url":"data:image/png;base64,AA=="}},` +
				`{"type":"image_url","image_url":{"url":"https://a/b"}}]}]`},
		"tools": {
			hi +
				`,"tools":[{"name":"ls","description":"d","input_schema":{"type":"object"},"strict":true}],` +
				`"tool_choice":{"type":"any","disable_parallel_tool_use":true}`,
			hiChat +
				`,"tools":[{"type":"function","function":{"name":"ls","description":"d",` +
				`"parameters":{"type":"object"},"strict":true}}],` +
				`"tool_choice":"required","parallel_tool_calls":false`},
		"one tool": {hi + `,"tool_choice":{"type":"tool","name":"ls"}`,
			hiChat + `,"tool_choice":{"type":"function","function":{"name":"ls"}}`},
		"no tool": {hi + `,"tools":[],"tool_choice":{"type":"none"}`, hiChat + `,"tool_choice":"none"`},
		"sampling": {hi + `,"temperature":0.5,"top_p":0.9,"top_k":4,"stop_sequences":["a"]`,
			hiChat + `,"temperature":0.5,"top_p":0.9,"top_k":4,"stop":["a"]`},
		"a stream": {hi + `,"stream":true`, hiChat + `,"stream":true,"stream_options":{"include_usage":true}`},
		"a little": {hi + `,"thinking":{"type":"enabled","budget_tokens":1024}`,
			hiChat + `,"reasoning_effort":"low"`},
		"much thinking": {hi + `,"thinking":{"type":"enabled","budget_tokens":31999}`,
			hiChat + `,"reasoning_effort":"high"`},
		"no thinking": {hi + `,"thinking":{"type":"disabled"}`, hiChat + `,"reasoning_effort":"none"`},
		"an effort": {hi + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"medium"}`,
			hiChat + `,"reasoning_effort":"medium"`},
		"a schema": {hi + `,"output_config":{"format":{"type":"json_schema","schema":{"a":1}}}`,
			hiChat + `,"response_format":{"type":"json_schema","json_schema":{"name":"output","schema":{"a":1}}}`},
		"a user": {hi + `,"metadata":{"user_id":"u"},"service_tier":"auto"`,
			hiChat + `,"user":"u","prompt_cache_key":"u"`},
		"what is null": {hi + `,"system":null,"tools":null,"mcp_servers":null`, hiChat},
		"edits for none": {hi + `,"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`,
			hiChat},
	} {
		if got := chatOf(t, body(c.in)); got != c.out {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.out)
		}
	}
}

func TestWhatTranslationWouldLoseIsRefusedWithItsPath(t *testing.T) {
	block := func(b string) string { return `"messages":[{"role":"user","content":[` + b + `]}]` }
	for name, c := range map[string]struct{ in, code, param string }{
		"an unknown member": {hi + `,"mcp_servers":[]`, wire.CodeUnsupportedParameter, "mcp_servers"},
		"a document": {block(`{"type":"document","source":{}}`), wire.CodeUnsupportedParameter,
			"messages[0].content[0]"},
		"citations": {block(`{"type":"text","text":"a","citations":[{}]}`), wire.CodeUnsupportedParameter,
			"messages[0].content[0].citations"},
		"a member of a block": {block(`{"type":"text","text":"a","x":1}`), wire.CodeUnsupportedParameter,
			"messages[0].content[0].x"},
		"a member of a turn": {`"messages":[{"role":"user","content":"a","name":"b"}]`, wire.CodeUnsupportedParameter,
			"messages[0].name"},
		"redacted thinking": {
			`"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"a"}]}]`,
			wire.CodeUnsupportedParameter, "messages[0].content[0]"},
		"thinking of a user": {block(`{"type":"thinking","thinking":"a","signature":""}`),
			wire.CodeUnsupportedParameter, "messages[0].content[0]"},
		"a file as an image": {block(`{"type":"image","source":{"type":"file","file_id":"f"}}`),
			wire.CodeUnsupportedParameter, "messages[0].content[0].source.file_id"},
		"a document as result": {block(`{"type":"tool_result","tool_use_id":"a","content":[{"type":"document"}]}`),
			wire.CodeUnsupportedParameter, "messages[0].content[0].content[0]"},
		"a server's tool": {hi + `,"tools":[{"type":"web_search_20250305","name":"web_search"}]`,
			wire.CodeUnsupportedParameter, "tools[0].type"},
		"a member of a tool": {hi + `,"tools":[{"name":"a","input_schema":{},"input_examples":[]}]`,
			wire.CodeUnsupportedParameter, "tools[0].input_examples"},
		"a deferred tool": {hi + `,"tools":[{"name":"a","input_schema":{},"defer_loading":true}]`,
			wire.CodeUnsupportedParameter, "tools[0].defer_loading"},
		"an answer's start": {`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`,
			wire.CodeUnsupportedParameter, "messages"},
		"edits of the context": {hi + `,"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}`,
			wire.CodeUnsupportedParameter, "context_management.edits[0]"},
		"a hidden thought": {hi + `,"thinking":{"type":"adaptive","display":"omitted"}`,
			wire.CodeUnsupportedParameter, "thinking.display"},
		"a program's call": {
			`"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{},` +
				`"caller":{"type":"code_execution_20250825"}}]}]`, wire.CodeUnsupportedParameter,
			"messages[0].content[0].caller"},

		"no messages":   {`"stream":true`, wire.CodeMissingParameter, "messages"},
		"an empty list": {`"messages":[]`, wire.CodeInvalidValue, "messages"},
		"another role": {`"messages":[{"role":"tool","content":"a"}]`, wire.CodeInvalidValue,
			"messages[0].role"},
		"no content": {`"messages":[{"role":"user"}]`, wire.CodeMissingParameter, "messages[0].content"},
		"a number as content": {`"messages":[{"role":"user","content":1}]`, wire.CodeInvalidValue,
			"messages[0].content"},
		"no type":   {block(`{"text":"a"}`), wire.CodeMissingParameter, "messages[0].content[0].type"},
		"no text":   {block(`{"type":"text"}`), wire.CodeMissingParameter, "messages[0].content[0].text"},
		"no schema": {hi + `,"tools":[{"name":"a"}]`, wire.CodeMissingParameter, "tools[0].input_schema"},
		"a list as input": {
			`"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":[]}]}]`,
			wire.CodeInvalidValue, "messages[0].content[0].input"},
		"a small budget": {hi + `,"thinking":{"type":"enabled","budget_tokens":1}`, wire.CodeInvalidValue,
			"thinking.budget_tokens"},
		"too warm":         {hi + `,"temperature":1.5`, wire.CodeInvalidValue, "temperature"},
		"a word as a flag": {hi + `,"stream":"yes"`, wire.CodeInvalidValue, "stream"},
		"a name twice":     {hi + `,"stream":true,"stream":false`, wire.CodeDuplicateKey, ""},
		"bad JSON":         {hi + `,`, wire.CodeInvalidJSON, ""},
		"too deep":         {`"x":` + strings.Repeat("[", 70), wire.CodeTooDeep, ""},
		"bad UTF-8":        {"\"x\":\"\xff\"", wire.CodeInvalidUTF8, ""},
	} {
		_, _, err := doorstest.Translate(Door{}, body(c.in))
		var bad *wire.Error
		if !errors.As(err, &bad) || bad.Code != c.code || bad.Param != c.param {
			t.Errorf("%s: %v, not %s at %q", name, err, c.code, c.param)
		}
	}
	for in, param := range map[string]string{`{` + hi + `}`: "max_tokens", `{"max_tokens":0,` + hi + `}`: "max_tokens",
		`[]`: ""} {
		_, _, err := doorstest.Translate(Door{}, in)
		var bad *wire.Error
		if !errors.As(err, &bad) || bad.Param != param {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestPathsOfAChatCompletionAreToldAsTheBodyHasThem(t *testing.T) {
	in := []byte(body(`"system":"s","messages":[{"role":"user","content":"a"},` +
		`{"role":"assistant","content":"b"},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"},{"type":"text","text":"c"}]}]`))
	for chat, want := range map[string]string{
		"messages[0].content": "system", "messages[1].content": "messages[0].content",
		"messages[3].content": "messages[2].content", "messages[4].content[0].text": "messages[2].content",
		"messages[9]": "messages[9]", "messages": "messages", "stop": "stop_sequences", "stop[3]": "stop_sequences",
		"top_k": "top_k", "reasoning_effort": "thinking", "X-Priority": "X-Priority", "": "",
	} {
		if got := (Door{}).Param(in, chat); got != want {
			t.Errorf("%q: %q, not %q", chat, got, want)
		}
	}
	if got := (Door{}).Param(nil, "messages[3].content"); got != "messages[3].content" {
		t.Errorf("without the body: %q", got)
	}
}

// A member that is null is one of the body's: what the gateway sets takes its place, and is not a second of its name.
func TestAMemberThatIsNullIsSetInItsPlace(t *testing.T) {
	chat, err := Door{}.Chat(nil, []byte(`{"model":null,"cache_salt":null,"max_tokens":9,`+hi+`}`), 64)
	if err != nil {
		t.Fatal(err)
	}
	edits := []wire.Edit{{Key: "cache_salt", Raw: []byte(`"s"`)}, {Key: "model", Raw: []byte(`"m"`)},
		{Key: "priority", Raw: []byte(`1`)}}
	const want = `{"priority":1,"model":"m","cache_salt":"s","max_tokens":9,` + hi + `}`
	if got := string(bytes.Join(chat.Sent.Splice(edits, nil), nil)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A tool becomes the same each time it comes, and one that is refused is refused each time.
func TestAToolThatCameBefore(t *testing.T) {
	tool := func(more string) string {
		return body(hi + `,"tools":[{"name":"ls","description":"` + strings.Repeat("lists files ", 20) + `",` +
			`"input_schema":{"type" : "object"}` + more + `}]`)
	}
	first := ""
	for i := range 4 {
		out, _, err := doorstest.Translate(Door{}, tool(`,"cache_control":{"type":"ephemeral"}`))
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(out)
		}
		if string(out) != first || !wire.Valid(out, 64) {
			t.Errorf("%s, at first %s", out, first)
		}
		for more, param := range map[string]string{`,"defer_loading":true`: "defer_loading", `,"x":1`: "x",
			`,"strict":1`: "strict"} {
			var bad *wire.Error
			_, _, err := doorstest.Translate(Door{}, tool(more))
			if !errors.As(err, &bad) || bad.Param != "tools[0]."+param {
				t.Errorf("time %d: %v, not of %s", i, err, param)
			}
		}
	}
}

// A turn that holds what tools returned goes on with a loop, whatever a client adds to it.
func TestATurnWithResultsIsATools(t *testing.T) {
	const result = `{"type":"tool_result","tool_use_id":"t1","content":"x"}`
	for turns, want := range map[string]bool{
		`{"role":"user","content":[` + result + `]}`:                                                true,
		`{"role":"user","content":[` + result + `,{"type":"text","text":"remember"}]}`:              true,
		`{"role":"user","content":[` + result + `]},{"role":"system","content":"remember"}`:         true,
		`{"role":"user","content":[` + result + `]},{"role":"user","content":"another matter"}`:     false,
		`{"role":"user","content":[` + result + `]},{"role":"assistant","content":"done"},` + again: false,
		again: false,
	} {
		_, answer, err := doorstest.Translate(Door{}, body(`"messages":[`+turns+`]`))
		if err != nil || answer.(*Answer).AnswersTool() != want {
			t.Errorf("%s: %v, not %v", turns, err, want)
		}
	}
}

const again = `{"role":"user","content":"again"}`
