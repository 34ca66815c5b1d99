package responses

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/gateway/doors/doorstest"
	"octet/gateway/wire"
)

const spaced = `"input":"hi","tools":[{"type":"function","name":"ls"},` +
	`{"type":"namespace","name":"mcp__files","description":"Files.","tools":[` +
	`{"type":"function","name":"read","description":"Reads."},{"type":"function","name":"ls","strict":false}]}]`

// A chat completion has functions alone: those of a namespace are named by both, there and back.
func TestFunctionsOfANamespace(t *testing.T) {
	out, answer, err := doorstest.Translate(Door{}, `{`+spaced+`,"client_metadata":{"a":"b"},"tool_choice":`+
		`{"type":"function","namespace":"mcp__files","name":"ls"}}`)
	const want = `{"tools":[{"type":"function","function":{"name":"ls"}},` +
		`{"type":"function","function":{"name":"mcp__files__read","description":"Files.\n\nReads."}},` +
		`{"type":"function","function":{"name":"mcp__files__ls"}}],"messages":[{"role":"user","content":"hi"}],` +
		`"tool_choice":{"type":"function","function":{"name":"mcp__files__ls"}}}`
	if err != nil || string(out) != want {
		t.Fatalf("%v: got\n%s\nwant\n%s", err, out, want)
	}
	events := chunks(`"tool_calls":[{"index":0,"id":"a","function":{"name":"mcp__files__ls","arguments":"{}"}}]`,
		`"tool_calls":[{"index":1,"id":"b","function":{"name":"ls","arguments":"{}"}}] > "tool_calls"`)
	got, err := answer.Events(events)
	said := string(got)
	said += string(answer.Done())
	if err != nil || strings.Count(said, `"name":"ls","arguments":"{}","namespace":"mcp__files"`) != 2 ||
		strings.Contains(said, "mcp__files__ls") || strings.Count(said, `"name":"ls","arguments":"{}"}`) != 4 {
		t.Errorf("%v: %s", err, said)
	}
	out, _, err = doorstest.Translate(Door{},
		`{"input":[{"type":"function_call","call_id":"a","name":"ls","arguments":"{}",`+
			`"namespace":"mcp__files"},{"type":"function_call_output","call_id":"a","output":"x"}]}`)
	if err != nil || !strings.Contains(string(out), `"name":"mcp__files__ls","arguments":"{}"`) {
		t.Errorf("%v: %s", err, out)
	}
}

// A tool that came before becomes what it became then, and its name is as taken as one that is read.
func TestToolsThatCameBefore(t *testing.T) {
	tool := `{"type":"function","name":"mcp__a__\"b\"","description":"` + strings.Repeat("d", 100) + `"}`
	const space = `,{"type":"namespace","name":"mcp__a","tools":[{"type":"function","name":"%s"}]}`
	for range 4 {
		out, _, err := doorstest.Translate(Door{}, `{"input":"hi","tools":[`+tool+fmt.Sprintf(space, "c")+`,`+tool+`]}`)
		chat := string(out)
		if err != nil || strings.Count(chat, `"name":"mcp__a__\"b\"","description":"ddd`) != 2 {
			t.Fatalf("%v: %s", err, chat)
		}
		var bad *wire.Error
		_, _, err = doorstest.Translate(Door{}, `{"input":"hi","tools":[`+tool+fmt.Sprintf(space, `\"b\"`)+`]}`)
		if !errors.As(err, &bad) || bad.Code != wire.CodeInvalidValue || bad.Param != "tools" {
			t.Fatalf("a name of a namespace's was taken twice: %v", err)
		}
	}
}

func TestNamespacesThatAreRefused(t *testing.T) {
	const in = `"tools":[{"type":"namespace","name":"a","tools":[`
	for name, c := range map[string]struct{ in, code, param string }{
		"no name":         {`"tools":[{"type":"namespace","tools":[]}]`, wire.CodeMissingParameter, "tools[0].name"},
		"no tools":        {`"tools":[{"type":"namespace","name":"a"}]`, wire.CodeMissingParameter, "tools[0].tools"},
		"a server's tool": {in + `{"type":"mcp"}]}]`, wire.CodeUnsupportedParameter, "tools[0].tools[0].type"},
		"a name twice": {in + `{"type":"function","name":"b"},{"type":"function","name":"b"}]}]`, wire.CodeInvalidValue,
			"tools[0].tools[1].name"},
		"a name as without": {in + `{"type":"function","name":"b"}]},{"type":"function","name":"a__b"}]`,
			wire.CodeInvalidValue, "tools"},
		"metadata": {`"client_metadata":"a"`, wire.CodeInvalidValue, "client_metadata"},
	} {
		_, _, err := doorstest.Translate(Door{}, `{"input":"hi",`+c.in+`}`)
		var bad *wire.Error
		if !errors.As(err, &bad) || bad.Code != c.code || bad.Param != c.param {
			t.Errorf("%s: %v, not %s at %q", name, err, c.code, c.param)
		}
	}
}
