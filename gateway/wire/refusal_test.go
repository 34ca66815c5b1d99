package wire

import (
	"strings"
	"testing"
)

type refusal struct{ body, code, param string }

func TestEachFaultOfAChatBodyHasItsCodeAndPath(t *testing.T) {
	said := func(s string) string { return `{"messages":[{"role":"user","content":"a"},` + s + `]}` }
	part := func(s string) string { return said(`{"role":"user","content":[{"type":"text","text":"t"},` + s + `]}`) }
	checkRefusals(t, Chat, []refusal{
		{`[]`, CodeInvalidRequest, ""},
		{`"x"`, CodeInvalidRequest, ""},
		{`{}`, CodeMissingParameter, "messages"},
		{`{"messages":null}`, CodeMissingParameter, "messages"},
		{`{"messages":[]}`, CodeInvalidValue, "messages"},
		{`{"messages":"hi"}`, CodeInvalidValue, "messages"},
		{said(`7`), CodeInvalidValue, "messages[1]"},
		{said(`{"content":"x"}`), CodeMissingParameter, "messages[1].role"},
		{said(`{"role":null,"content":"x"}`), CodeInvalidValue, "messages[1].role"},
		{said(`{"role":"wizard","content":"x"}`), CodeInvalidValue, "messages[1].role"},
		{said(`{"role":"user"}`), CodeMissingParameter, "messages[1].content"},
		{said(`{"role":"user","content":null}`), CodeMissingParameter, "messages[1].content"},
		{said(`{"role":"user","tool_calls":[{}]}`), CodeMissingParameter, "messages[1].content"},
		{said(`{"role":"assistant"}`), CodeMissingParameter, "messages[1].content"},
		{said(`{"role":"user","content":5}`), CodeInvalidValue, "messages[1].content"},
		{said(`{"role":"user","content":[]}`), CodeInvalidValue, "messages[1].content"},
		{said(`{"role":"user","content":"x","name":1}`), CodeInvalidValue, "messages[1].name"},
		{said(`{"role":"assistant","tool_calls":{}}`), CodeInvalidValue, "messages[1].tool_calls"},
		{said(`{"role":"user","Content":"x"}`), CodeInvalidRequest, "messages[1].Content"},
		{part(`"x"`), CodeInvalidValue, "messages[1].content[1]"},
		{part(`{"text":"x"}`), CodeMissingParameter, "messages[1].content[1].type"},
		{part(`{"type":"text"}`), CodeMissingParameter, "messages[1].content[1].text"},
		{part(`{"type":"text","text":3}`), CodeInvalidValue, "messages[1].content[1].text"},
		{part(`{"type":"image_url","image_url":{"url":"u"}}`), CodeUnsupportedContent, "messages[1].content[1]"},
		{part(`{"type":"input_audio"}`), CodeUnsupportedContent, "messages[1].content[1]"},
		{part(`{"type":"file"}`), CodeUnsupportedContent, "messages[1].content[1]"},
		{user(`,"model":7`), CodeInvalidValue, "model"},
		{user(`,"stream":"yes"`), CodeInvalidValue, "stream"},
		{user(`,"stream_options":[]`), CodeInvalidValue, "stream_options"},
		{user(`,"stream_options":{"include_usage":1}`), CodeInvalidValue, "stream_options.include_usage"},
		{user(`,"max_tokens":0`), CodeInvalidValue, "max_tokens"},
		{user(`,"max_completion_tokens":1.5`), CodeInvalidValue, "max_completion_tokens"},
		{user(`,"max_tokens":4294967296`), CodeInvalidValue, "max_tokens"},
		{user(`,"n":129`), CodeInvalidValue, "n"},
		{user(`,"n":1e0`), CodeInvalidValue, "n"},
		{user(`,"temperature":-0.1`), CodeInvalidValue, "temperature"},
		{user(`,"temperature":"hot"`), CodeInvalidValue, "temperature"},
		{user(`,"top_p":-0.1`), CodeInvalidValue, "top_p"},
		{user(`,"typical_p":1.01`), CodeInvalidValue, "typical_p"},
		{user(`,"seed":1.5`), CodeInvalidValue, "seed"},
		{user(`,"stop":["a",2]`), CodeInvalidValue, "stop[1]"},
		{user(`,"stop":{}`), CodeInvalidValue, "stop"},
		{user(`,"tools":{}`), CodeInvalidValue, "tools"},
		{user(`,"tools":["x"]`), CodeInvalidValue, "tools[0]"},
		{user(`,"tool_choice":1`), CodeInvalidValue, "tool_choice"},
		{user(`,"response_format":{}`), CodeMissingParameter, "response_format.type"},
		{user(`,"response_format":"json"`), CodeInvalidValue, "response_format"},
		{user(`,"modalities":["text","audio"]`), CodeUnsupportedParameter, "modalities"},
		{user(`,"audio":{"voice":"x"}`), CodeUnsupportedParameter, "audio"},
		{user(`,"store":1`), CodeInvalidValue, "store"},
		{user(`,"web_search_options":{}`), CodeUnsupportedParameter, "web_search_options"},
		{user(`,"priority":-100`), CodeUnsupportedParameter, "priority"},
		{user(`,"kv_transfer_params":{"remote_host":"10.0.0.1"}`), CodeUnsupportedParameter, "kv_transfer_params"},
		{user(`,"bootstrap_host":"10.0.0.1"`), CodeUnsupportedParameter, "bootstrap_host"},
		{user(`,"cache_salt":7`), CodeInvalidValue, "cache_salt"},
		{user(`,"repo_snippets":["a",1]`), CodeInvalidValue, "repo_snippets[1]"},
		{user(`,"tool_outputs":"a"`), CodeInvalidValue, "tool_outputs"},
		{user(`,"Model":"m"`), CodeInvalidRequest, "Model"},
		{user(`,"STREAM":true`), CodeInvalidRequest, "STREAM"},
		{user(`,"ſtream":true`), CodeInvalidRequest, "ſtream"},
	})
}

func TestEachFaultOfACompletionBodyHasItsCodeAndPath(t *testing.T) {
	checkRefusals(t, Completion, []refusal{
		{`{}`, CodeMissingParameter, "prompt"},
		{`{"prompt":null}`, CodeMissingParameter, "prompt"},
		{`{"prompt":{}}`, CodeInvalidValue, "prompt"},
		{`{"prompt":[]}`, CodeInvalidValue, "prompt"},
		{`{"prompt":["a",1]}`, CodeInvalidValue, "prompt[1]"},
		{`{"prompt":[true]}`, CodeInvalidValue, "prompt[0]"},
		{`{"prompt":[1,-1]}`, CodeInvalidValue, "prompt[1]"},
		{`{"prompt":[1,2147483648]}`, CodeInvalidValue, "prompt[1]"},
		{`{"prompt":[[1],[2,"x"]]}`, CodeInvalidValue, "prompt[1][1]"},
		{`{"prompt":[[1],[]]}`, CodeInvalidValue, "prompt[1]"},
		{`{"prompt":"x","suffix":["y"]}`, CodeInvalidValue, "suffix"},
		{`{"prompt":"x","echo":1}`, CodeInvalidValue, "echo"},
		{`{"prompt":"x","best_of":0}`, CodeInvalidValue, "best_of"},
		{`{"prompt":"x","logprobs":true}`, CodeInvalidValue, "logprobs"},
	})
}

func TestEachFaultOfSyntaxHasItsCode(t *testing.T) {
	deep := func(n int) string { return user(`,"x":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1)) }
	checkRefusals(t, Chat, []refusal{
		{``, CodeInvalidJSON, ""},
		{" \n", CodeInvalidJSON, ""},
		{"\ufeff" + user(""), CodeInvalidJSON, ""},
		{user("") + "x", CodeInvalidJSON, ""},
		{user("") + "{}", CodeInvalidJSON, ""},
		{user("") + "\x00", CodeInvalidJSON, ""},
		{user(`,"x":01`), CodeInvalidJSON, ""},
		{user(`,"x":+1`), CodeInvalidJSON, ""},
		{user(`,"x":1.`), CodeInvalidJSON, ""},
		{user(`,"x":.5`), CodeInvalidJSON, ""},
		{user(`,"x":1e`), CodeInvalidJSON, ""},
		{user(`,"x":-`), CodeInvalidJSON, ""},
		{user(`,"x":NaN`), CodeInvalidJSON, ""},
		{user(`,"x":Infinity`), CodeInvalidJSON, ""},
		{user(`,"x":nul`), CodeInvalidJSON, ""},
		{user(`,"x":[1,]`), CodeInvalidJSON, ""},
		{user(`,"x":[1 2]`), CodeInvalidJSON, ""},
		{user(`,"x":{"a"}`), CodeInvalidJSON, ""},
		{user(`,"x":{"a":1,}`), CodeInvalidJSON, ""},
		{user(`,"x":{a:1}`), CodeInvalidJSON, ""},
		{user(`,x:1`), CodeInvalidJSON, ""},
		{user(`,"x":'a'`), CodeInvalidJSON, ""},
		{user(`,"x":"\x"`), CodeInvalidJSON, ""},
		{user(`,"x":"\u12g4"`), CodeInvalidJSON, ""},
		{user(`,"x":"\u123"`), CodeInvalidJSON, ""},
		{user(",\"x\":\"a\tb\""), CodeInvalidJSON, ""},
		{user(",\"x\":\"a\x00b\""), CodeInvalidJSON, ""},
		{user(`,"x":"abc`), CodeInvalidJSON, ""},
		{user(`/*c*/`), CodeInvalidJSON, ""},
		{user(`,"x":"\ud800"`), CodeInvalidUTF8, ""},
		{user(`,"x":"\ud800\u0041"`), CodeInvalidUTF8, ""},
		{user(`,"x":"\udc00"`), CodeInvalidUTF8, ""},
		{user(",\"x\":\"\xff\""), CodeInvalidUTF8, ""},
		{user(",\"x\":\"\xc0\x80\""), CodeInvalidUTF8, ""},
		{user(",\"\xe2\x28\xa1\":1"), CodeInvalidUTF8, ""},
		{user(`,"x":1,"x":1`), CodeDuplicateKey, ""},
		{user(`,"x":1,"\u0078":1`), CodeDuplicateKey, ""},
		{user(`,"x":{"a":{"b":1,"b":2}}`), CodeDuplicateKey, ""},
		{user(`,"messages":[]`), CodeDuplicateKey, ""},
		{deep(65), CodeTooDeep, ""},
		{strings.Repeat("[", 100_000), CodeTooDeep, ""},
		{strings.Repeat(`{"a":`, 100_000), CodeTooDeep, ""},
		{`{"n":"x","messages":[}`, CodeInvalidJSON, ""}, // syntax outranks meaning
	})
	mustParse(t, Chat, deep(64))
}

func checkRefusals(t *testing.T, kind Kind, cases []refusal) {
	t.Helper()
	var r Request
	for _, c := range cases {
		err := Parse(kind, []byte(c.body), Limits{}, &r)
		if err == nil {
			t.Errorf("%.80s: accepted, want %s at %q", c.body, c.code, c.param)
			continue
		}
		if e := asError(t, err); e.Code != c.code || e.Param != c.param || e.Message == "" || e.Offset > len(c.body) {
			t.Errorf("%.80s: got %+v, want %s at %q", c.body, e, c.code, c.param)
		}
	}
}

func TestAWrongCaseNamesTheRightParameter(t *testing.T) {
	var r Request
	e := asError(t, Parse(Chat, []byte(user(`,"Max_Tokens":1`)), Limits{}, &r))
	if !strings.Contains(e.Message, "wrong case") || !strings.Contains(e.Message, "max_tokens") {
		t.Errorf("message %q", e.Message)
	}
	mustParse(t, Chat, user(`,"Unknown":1,"modèle":2,"prompt":3`)) // not a parameter of this API in any case
}

func TestListsAreBounded(t *testing.T) {
	var r Request
	lim := Limits{Messages: 2, Prompts: 2}
	one := `{"role":"user","content":"x"},`
	for kind, bodies := range map[Kind][]string{
		Chat: {`{"messages":[` + strings.TrimSuffix(strings.Repeat(one, 3), ",") + `]}`,
			user(`,"repo_snippets":["a","b","c"]`)},
		Completion: {`{"prompt":["a","b","c"]}`, `{"prompt":[[1],[2],[3]]}`},
	} {
		for _, body := range bodies {
			if e := asError(t, Parse(kind, []byte(body), lim, &r)); e.Code != CodeInvalidValue ||
				!strings.Contains(e.Message, "more than 2") {
				t.Errorf("%s: %v", body, e)
			}
		}
	}
	if err := Parse(Completion, []byte(`{"prompt":[1,2,3,4]}`), lim, &r); err != nil {
		t.Errorf("a prompt of many tokens: %v", err)
	}
}

func TestTheOffsetPointsAtTheFault(t *testing.T) {
	var r Request
	for body, want := range map[string]string{
		user(`,"n": 0 `): `0 }`, user(`,"x":tru`): `tru}`, user(`,"x":1,"x":2`): `"x":2}`, user(`,"stop":[ 7]`): `7]}`,
	} {
		if e := asError(t, Parse(Chat, []byte(body), Limits{}, &r)); body[e.Offset:] != want {
			t.Errorf("%s: offset %d, at %q", body, e.Offset, body[e.Offset:])
		}
	}
}
