package responses

import (
	"errors"
	"strings"
	"testing"

	"octet/gateway/doors/doorstest"
	"octet/gateway/wire"
)

func TestWhatABodyBecomes(t *testing.T) {
	const hi, hiChat = `"input":"hi"`, `"messages":[{"role":"user","content":"hi"}]`
	const call = `{"type":"function_call","call_id":"t1","name":"ls","arguments":"{\"a\":1}","id":"fc_1",` +
		`"status":"completed"}`
	const calls = `"tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]`
	for name, c := range map[string]struct{ in, out string }{
		"a text": {hi, hiChat},
		"instructions": {hi + `,"instructions":"be brief"`,
			`"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]`},
		"messages": {
			`"input":[{"role":"developer","content":"d"},{"type":"message","role":"user",` +
				`"content":[{"type":"input_text","text":"a"}]}]`,
			`"messages":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"text","text":"a"}]}]`},
		"a tool loop": {
			`"input":[{"role":"user","content":"go"},{"type":"reasoning","id":"rs","summary":[],` +
				`"content":[{"type":"reasoning_text","text":"so"}]},` +
				`{"type":"message","id":"m","status":"completed","role":"assistant",` +
				`"content":[{"type":"output_text","text":"I look","annotations":[],"logprobs":[]}]},` +
				call + `,{"type":"function_call_output","call_id":"t1","output":"x"}]`,
			`"messages":[{"role":"user","content":"go"},{"role":"assistant","reasoning_content":"so",` +
				`"content":[{"type":"text","text":"I look"}],` +
				calls + `},{"role":"tool","tool_call_id":"t1","content":"x"}]`},
		"calls alone": {`"input":[` + call + `,` + strings.ReplaceAll(call, "t1",
			"t2") + `,{"type":"function_call_output","call_id":"t1","output":[{"type":"input_text","text":"x"}]}]`,
			`"messages":[{"role":"assistant","tool_calls":[{"id":"t1","type":"function","function":{"name":"ls",` +
				`"arguments":"{\"a\":1}"}},` +
				`{"id":"t2","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}}]},{"role":"tool",` +
				`"tool_call_id":"t1","content":[{"type":"text","text":"x"}]}]`},
		"text and reasoning behind a call": {`"input":[{"role":"assistant","content":"a"},` + call +
			`,{"role":"assistant","content":"b"},{"type":"reasoning","summary":[{"type":"summary_text",` +
			`"text":"so"}]},` + strings.ReplaceAll(call, "t1", "t2") +
			`,{"type":"function_call_output","call_id":"t1","output":"x"}]`,
			`"messages":[{"role":"assistant","reasoning_content":"so","content":[{"type":"text","text":"a"},` +
				`{"type":"text","text":"b"}],"tool_calls":[{"id":"t1","type":"function","function":{"name":"ls",` +
				`"arguments":"{\"a\":1}"}},{"id":"t2","type":"function","function":{"name":"ls",` +
				`"arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"t1","content":"x"}]`},
		"reasoning behind an answer": {`"input":[{"role":"assistant","content":"a"},{"type":"reasoning",` +
			`"summary":[{"type":"summary_text","text":"so"}]},{"role":"assistant","content":"b"},` +
			`{"role":"user","content":"c"}]`,
			`"messages":[{"role":"assistant","content":"a"},{"role":"assistant","reasoning_content":"so",` +
				`"content":"b"},{"role":"user","content":"c"}]`},
		"a summary, and reasoning that is empty": {`"input":[{"type":"reasoning","id":"rs",` +
			`"summary":[{"type":"summary_text","text":"so"}],"content":[]},` + call +
			`,{"type":"function_call_output","call_id":"t1","output":[]}]`,
			`"messages":[{"role":"assistant","reasoning_content":"so",` + calls +
				`},{"role":"tool","tool_call_id":"t1","content":""}]`},
		"what a tool says unasked": {
			`"input":[{"type":"function_call_output","id":"f1","name":"goal","namespace":"agent",` +
				`"output":"x"}]`,
			`"messages":[{"role":"tool","tool_call_id":"f1","name":"agent__goal","content":"x"}]`},
		"two answers": {
			`"input":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"user",` +
				`"content":"c"}]`,
			`"messages":[{"role":"assistant","content":"a"},{"role":"assistant","content":"b"},{"role":"user",` +
				`"content":"c"}]`},
		"an image": {
			`"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://a/b","detail":"low"}]}]`,
			`"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a/b",` +
				`"detail":"low"}}]}]`},
		"tools": {
			hi +
				`,"tools":[{"type":"function","name":"ls","description":"d","parameters":{"a":1},"strict":true}],` +
				`"tool_choice":{"type":"function","name":"ls"},"parallel_tool_calls":false`,
			`"tools":[{"type":"function","function":{"name":"ls","description":"d","parameters":{"a":1},` +
				`"strict":true}}],` + hiChat + `,"parallel_tool_calls":false,"tool_choice":{"type":"function",` +
				`"function":{"name":"ls"}}`},
		"params": {
			hi +
				`,"temperature":0.5,"top_p":0.5,"max_output_tokens":9,"user":"u","metadata":{"a":"b"},` +
				`"store":false,"prompt_cache_key":"k","include":["reasoning.encrypted_content"],` +
				`"truncation":"disabled"`,
			hiChat +
				`,"temperature":0.5,"top_p":0.5,"max_tokens":9,"metadata":{"a":"b"},"user":"u","prompt_cache_key":"k"`},
		"a stream": {hi + `,"stream":true,"stream_options":{"include_obfuscation":false}`,
			hiChat + `,"stream":true,"stream_options":{"include_usage":true}`},
		"reasoning": {hi + `,"reasoning":{"effort":"low","summary":"auto"}`, hiChat + `,"reasoning_effort":"low"`},
		"a schema": {
			hi +
				`,"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"a":1},"strict":true}}`,
			hiChat +
				`,"verbosity":"low","response_format":{"type":"json_schema","json_schema":{"name":"n",` +
				`"schema":{"a":1},"strict":true}}`},
		"text alone": {hi + `,"text":{"format":{"type":"text"}},"tools":[],"tool_choice":"auto"`,
			hiChat + `,"tool_choice":"auto"`},
		"what is null": {hi + `,"previous_response_id":null,"conversation":null,"reasoning":null`, hiChat},
	} {
		out, _, err := doorstest.Translate(Door{}, `{"model":"octet",`+c.in+`}`)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := `{"model":"octet",` + c.out + `}`; string(out) != want {
			t.Errorf("%s:\n got %s\nwant %s", name, out, want)
		}
	}
}

func TestWhatTranslationWouldLoseIsRefusedWithItsPath(t *testing.T) {
	const hi = `"input":"hi",`
	item := func(i string) string { return `"input":[` + i + `]` }
	for name, c := range map[string]struct{ in, code, param string }{
		"store":      {hi + `"store":true`, wire.CodeUnsupportedParameter, "store"},
		"background": {hi + `"background":true`, wire.CodeUnsupportedParameter, "background"},
		"an earlier response": {hi + `"previous_response_id":"r"`, wire.CodeUnsupportedParameter,
			"previous_response_id"},
		"an unknown member": {hi + `"max_tool_calls":1`, wire.CodeUnsupportedParameter, "max_tool_calls"},
		"more to include": {hi + `"include":["file_search_call.results"]`, wire.CodeUnsupportedParameter,
			"include[0]"},
		"truncation": {hi + `"truncation":"auto"`, wire.CodeUnsupportedParameter, "truncation"},
		"a summary": {hi + `"reasoning":{"summary":"detailed"}`, wire.CodeUnsupportedParameter,
			"reasoning.summary"},
		"a server's tool": {hi + `"tools":[{"type":"web_search"}]`, wire.CodeUnsupportedParameter, "tools[0].type"},
		"a server's choice": {hi + `"tool_choice":{"type":"web_search"}`, wire.CodeUnsupportedParameter,
			"tool_choice"},
		"a reference": {item(`{"type":"item_reference","id":"a"}`), wire.CodeUnsupportedParameter,
			"input[0].type"},
		"a file": {item(`{"role":"user","content":[{"type":"input_file","file_id":"f"}]}`),
			wire.CodeUnsupportedParameter, "input[0].content[0].type"},
		"sealed reasoning": {item(`{"type":"reasoning","summary":[],"encrypted_content":"x"}`),
			wire.CodeUnsupportedParameter, "input[0].encrypted_content"},
		"an answer's start": {item(`{"role":"user","content":"a"},{"role":"assistant","content":"b"}`),
			wire.CodeUnsupportedParameter, "input[1]"},
		"an answer's start ahead of tools": {item(`{"role":"user","content":"a"},{"role":"assistant","content":"b"}`) +
			`,"tools":[{"type":"function","name":"ls"}]`, wire.CodeUnsupportedParameter, "input[1]"},
		"annotations": {item(
			`{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[{}]}]}`),
			wire.CodeUnsupportedParameter, "input[0].content[0].annotations"},
		"no input":      {`"stream":true`, wire.CodeMissingParameter, "input"},
		"an empty list": {item(``), wire.CodeInvalidValue, "input"},
		"no output": {item(`{"type":"function_call_output","call_id":"a"}`), wire.CodeMissingParameter,
			"input[0].output"},
		"no arguments": {item(`{"type":"function_call","call_id":"a","name":"b"}`), wire.CodeMissingParameter,
			"input[0].arguments"},
		"a name twice": {hi + `"stream":true,"stream":true`, wire.CodeDuplicateKey, ""},
	} {
		_, _, err := doorstest.Translate(Door{}, `{`+c.in+`}`)
		var bad *wire.Error
		if !errors.As(err, &bad) || bad.Code != c.code || bad.Param != c.param {
			t.Errorf("%s: %v, not %s at %q", name, err, c.code, c.param)
		}
	}
	in := []byte(`{"instructions":"i","input":[{"role":"user","content":"a"},` +
		`{"type":"reasoning","summary":[]},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`)
	for chat, want := range map[string]string{"messages[0].content": "instructions", "messages[2].content": "input[1]",
		"messages[3].role": "input[3]", "messages": "input", "max_tokens": "max_output_tokens", "top_p": "top_p",
		"messages[7]": "messages[7]"} {
		if got := (Door{}).Param(in, chat); got != want {
			t.Errorf("%q: %q, not %q", chat, got, want)
		}
	}
}
