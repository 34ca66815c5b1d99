package wire

import (
	"fmt"
	"strings"
	"testing"
)

// MEGA-01: prompt, snippets, tool outputs and decoding policy are read from the body.
//
//nolint:lll // raw text that cannot be broken
func TestParseReadsWhatTheGatewayActsOn(t *testing.T) {
	body := `{"model":"debug:gdb-v2","stream":true,"stream_options":{"include_usage":true},"max_tokens":10,
		"max_completion_tokens":20,"n":2,"temperature":0.5,"top_p":0.9,"seed":7,"stop":["\n\n"],"tools":[{"type":"function"}],
		"tool_choice":"auto","response_format":{"type":"json_schema"},"logprobs":true,"whatever":{"deep":[1,2,{}]},
		"messages":[{"role":"developer","content":"be brief"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b\t"}]}],
		"repo_snippets":["int main();"],"tool_outputs":["ld: undefined \"x\""]}`
	var r Request
	if err := Parse(Chat, []byte(body), Limits{}, &r); err != nil {
		t.Fatal(err)
	}
	if r.Model != "debug:gdb-v2" || !r.Stream || !r.StreamOptions.IncludeUsage || r.MaxTokens != 20 || r.N != 2 ||
		!r.Seed || !r.Stop {
		t.Errorf("read %+v", r.Params)
	}
	if !r.Tools || !r.ToolChoice || !r.Structured || !r.Logprobs || r.Continuable() ||
		r.Temperature != (Number{0.5, true}) || r.TopP.Value != 0.9 {
		t.Errorf("read %+v", r.Params)
	}
	want := "developer: be brief|user: a\nb\t|repo_snippet: int main();|tool_output: ld: undefined \"x\""
	for range 2 { // a second reading gives the same
		if got := strings.Join(readTurns(&r), "|"); got != want {
			t.Errorf("turns %q, want %q", got, want)
		}
	}
	if got := string(r.Raw("whatever")); got != `{"deep":[1,2,{}]}` || r.Raw("absent") != nil {
		t.Errorf("Raw gave %q", got)
	}
}

func TestAnAbsentModelIsTheEmptyName(t *testing.T) {
	for _, model := range []string{``, `"model":null,`, `"model":"",`} {
		r := mustParse(t, Chat, `{`+model+`"messages":[{"role":"user","content":"x"}]}`)
		if r.Model != "" || r.MaxTokens != -1 || r.N != 1 || !r.Continuable() {
			t.Errorf("%q: read %+v", model, r.Params)
		}
	}
}

// MEGA-01: greedy, typical, temperature.
func TestPolicyFollowsTheSamplingParameters(t *testing.T) {
	for params, want := range map[string]Policy{
		``: PolicyTemperature, `,"temperature":1`: PolicyTemperature, `,"temperature":0`: PolicyGreedy,
		`,"temperature":0.0,"typical_p":0.5`: PolicyGreedy, `,"top_p":0`: PolicyGreedy,
		`,"typical_p":0.9`: PolicyTypical, `,"temperature":0.7,"typical_p":0.9`: PolicyTypical,
		`,"temperature":null`: PolicyTemperature,
	} {
		if got := mustParse(t, Chat, user(params)).Policy(); got != want {
			t.Errorf("%s: %v, want %v", params, got, want)
		}
	}
}

//nolint:lll // raw text that cannot be broken
func TestOnlyAPlainSingleAnswerIsContinuable(t *testing.T) {
	for params, want := range map[string]bool{
		``: true,
		`,"n":1,"tool_choice":"none","response_format":{"type":"text"},"tools":[],"logprobs":false,"guided_json":null`: true,
		`,"n":2`: false, `,"tools":[{}]`: true, `,"functions":[{}]`: true,
		`,"response_format":{"type":"json_object"}`: true, `,"guided_regex":"a+"`: true,
		`,"logprobs":true`: false, `,"top_logprobs":1`: false,
		`,"use_beam_search":true`: false,
	} {
		if got := mustParse(t, Chat, user(params)).Continuable(); got != want {
			t.Errorf("%s: %v, want %v", params, got, want)
		}
	}
	for body, want := range map[string]bool{
		`{"prompt":"x"}`: true, `{"prompt":[1,2]}`: true, `{"prompt":["a","b"]}`: false,
		`{"prompt":"x","echo":true}`: false,
		`{"prompt":"x","best_of":2}`: false, `{"prompt":"x","logprobs":0}`: false,
	} {
		if got := mustParse(t, Completion, body).Continuable(); got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

func TestPromptsAreTextOrTokens(t *testing.T) {
	r := mustParse(t, Completion, `{"prompt":[[1, 2],[4294967]]}`)
	if got := fmt.Sprint(readTokens(r), r.Prompts(), r.prompts[0].tokens); got != "[[1 2] [4294967]] 2 2" {
		t.Errorf("token prompts %s", got)
	}
	if _, ok := r.PromptText(0); ok || len(r.Turns(nil)) != 0 {
		t.Error("token ids were given as text")
	}
	r = mustParse(t, Completion, `{"prompt":["a\n","b"]}`)
	if text, ok := r.PromptText(0); !ok || string(text) != "a\n" {
		t.Errorf("prompt 0 is %q", text)
	}
	if _, ok := r.PromptTokens(1, nil); ok {
		t.Error("text was given as token ids")
	}
}

func TestTextWithoutEscapesAliasesTheBody(t *testing.T) {
	body := []byte(user(""))
	var r Request
	if err := Parse(Chat, body, Limits{}, &r); err != nil {
		t.Fatal(err)
	}
	turn := r.Turns(nil)[0]
	copy(body[strings.Index(string(body), "hello"):], "HELLO")
	if string(turn.Text) != "HELLO" {
		t.Errorf("the text %q is a copy", turn.Text)
	}
}

//nolint:lll // raw text that cannot be broken
func TestAReusedRequestRemembersNothing(t *testing.T) {
	var r Request
	full := user(`,"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":4,"n":3,"temperature":1,"top_p":1,"typical_p":1,
		"tools":[{}],"tool_choice":"auto","seed":1,"stop":"x","logprobs":true,"repo_snippets":["a"],"tool_outputs":["b"],"guided_json":{}`)
	if err := Parse(Chat, []byte(full), Limits{}, &r); err != nil {
		t.Fatal(err)
	}
	if err := Parse(Completion, []byte(`{"prompt":"p"}`), Limits{}, &r); err != nil {
		t.Fatal(err)
	}
	fresh := mustParse(t, Completion, `{"prompt":"p"}`)
	if r.Params != fresh.Params || strings.Join(readTurns(&r), "|") != "user: p" || r.Raw("n") != nil {
		t.Errorf("kept %+v", r.Params)
	}
}

// user is a chat body of one user message, with more members.
func user(more string) string {
	return `{"messages":[{"role":"user","content":"hello"}]` + more + `}`
}

func mustParse(t *testing.T, kind Kind, body string) *Request {
	t.Helper()
	r := &Request{}
	if err := Parse(kind, []byte(body), Limits{}, r); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r
}

func TestEveryParameterHasItsReaderInItsTable(t *testing.T) {
	most := 0
	for kind, own := range map[Kind]map[string]reader{Chat: chatParams, Completion: completionParams} {
		all := map[string]bool{}
		for name := range own {
			all[name] = true
		}
		for name := range sharedParams {
			all[name] = true
		}
		for name := range all {
			if bare.of(kind).find([]byte(name), hashOf([]byte(name))) == nil {
				t.Errorf("nobody reads %s", name)
			}
			for _, other := range []string{name + "x", name[1:], name[:len(name)-1] + "?"} {
				if !all[other] && bare.of(kind).find([]byte(other), hashOf([]byte(other))) != nil {
					t.Errorf("somebody reads %s", other)
				}
			}
		}
	}
	for _, slot := range append(bare.chat[:], bare.completion[:]...) {
		most = max(most, len(slot))
	}
	if bare.chat.find(nil, hashOf(nil)) != nil || most > 4 {
		t.Errorf("%d names in one slot", most)
	}
}

func TestAToolChoiceMayLeaveNoOtherAnswerThanACall(t *testing.T) {
	for params, want := range map[string][2]bool{ // a choice, and no other answer
		``: {}, `,"tool_choice":null`: {}, `,"tool_choice":"none"`: {}, `,"tool_choice":"auto"`: {true, false},
		`,"tool_choice":"required"`:                                  {true, true},
		`,"tool_choice":{"type":"function","function":{"name":"f"}}`: {true, true},
		`,"function_call":"auto"`:                                    {true, false},
		`,"function_call":{}`:                                        {true, true},
	} {
		if r := mustParse(t, Chat, user(params)); r.ToolChoice != want[0] || r.MustCall != want[1] {
			t.Errorf("%s: %v %v, want %v", params, r.ToolChoice, r.MustCall, want)
		}
	}
}
