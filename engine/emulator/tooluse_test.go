package emulator_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"octet/engine/emulator"
)

// agentTools are two tools, the arguments of which have every type.
const agentTools = `[
	{"type":"function","function":{"name":"read_file","parameters":{"type":"object","required":["path"],"properties":{
		"path":{"type":"string"},"lines":{"type":"integer","minimum":3,"maximum":9}}}}},
	{"type":"function","function":{"name":"naïve","parameters":{"type":"object","required":["mode","deep"],
		"properties":{"mode":{"enum":["größe","b"]},"on":{"type":"boolean"},
		"list":{"type":"array","minItems":2,"items":{"type":"number"}},
		"deep":{"$ref":"#/$defs/d"},"free":{"anyOf":[{"type":"null"},{"type":"string"}]}},
		"$defs":{"d":{"type":["object","null"],"properties":{"x":{"const":7}}}}}}}]`

func toolsEngine(t testing.TB) *rig {
	c := fast()
	c.Text, c.Blocks = emulator.TextTools, 4096
	return start(t, c)
}

// agentBody is a request with both tools, in which the user says this, and what comes behind the messages.
func agentBody(user, more string) string {
	return fmt.Sprintf(`{"model":"debug","messages":[{"role":"user","content":%q}],"tools":%s%s}`, user, agentTools,
		more)
}

// joined puts the deltas of choice 0 together, each of which must be of one kind.
func joined(t testing.TB, chunks []reply) (m spoken, finish string) {
	t.Helper()
	for _, c := range chunks {
		if len(c.Choices) == 0 {
			continue
		}
		d := c.Choices[0].Delta
		if finish != "" {
			t.Errorf("%+v comes behind the end", d)
		}
		if f := c.Choices[0].FinishReason; f != nil {
			finish = *f
		}
		m.Content, m.Reasoning, m.Role = m.Content+d.Content, m.Reasoning+d.Reasoning, m.Role+d.Role
		for _, k := range d.Calls {
			if k.Index == len(m.Calls) && k.ID != "" && k.Type == "function" && k.Function.Name != "" &&
				k.Function.Arguments == "" {
				m.Calls = append(m.Calls, k)
				continue
			}
			if k.Index != len(m.Calls)-1 || k.ID+k.Type+k.Function.Name != "" {
				t.Fatalf("a piece of a call that is neither a beginning nor goes on: %+v", k)
			}
			m.Calls[k.Index].Function.Arguments += k.Function.Arguments
		}
	}
	return m, finish
}

func TestAnAnswerCallsTools(t *testing.T) {
	r := toolsEngine(t)
	for i := range 12 {
		user := fmt.Sprint("fix parse_", i)
		whole := r.whole("/v1/chat/completions", "", agentBody(user, ""))
		chunks := r.stream("/v1/chat/completions", "",
			agentBody(user, `,"stream":true,"stream_options":{"include_usage":true}`))
		streamed, finish := joined(t, chunks)
		told := whole.Choices[0].Message
		for k := range told.Calls {
			told.Calls[k].Index = k
		}
		if fmt.Sprint(streamed) != fmt.Sprint(told) || finish != "tool_calls" ||
			*whole.Choices[0].FinishReason != finish || len(told.Calls) == 0 {
			t.Fatalf("streamed %+v\nwhole %+v, %s", streamed, told, finish)
		}
		if u := chunks[len(chunks)-1].Usage; *u != *whole.Usage && u.CompletionTokens != whole.Usage.CompletionTokens {
			t.Errorf("usage %+v and %+v", u, whole.Usage)
		}
		for _, call := range told.Calls {
			fits(t, call.Function.Name, call.Function.Arguments)
		}
	}
}

// fits checks arguments by the schemas of agentTools, by hand.
func fits(t testing.TB, name, arguments string) {
	t.Helper()
	var a struct {
		Path  *string
		Lines *int
		Mode  string
		On    *bool
		List  []float64
		Deep  *struct{ X int }
		Free  *string
	}
	if err := json.Unmarshal([]byte(arguments), &a); err != nil {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
	switch name {
	case "read_file":
		if a.Path == nil || a.Lines == nil || *a.Lines < 3 || *a.Lines > 9 {
			t.Errorf("%s(%s)", name, arguments)
		}
	case "naïve":
		if a.Mode != "größe" && a.Mode != "b" || a.On == nil || len(a.List) != 2 || a.Deep == nil || a.Deep.X != 7 {
			t.Errorf("%s(%s)", name, arguments)
		}
	default:
		t.Errorf("%q is no tool", name)
	}
}

func TestToolChoiceIsKeptTo(t *testing.T) {
	r := toolsEngine(t)
	calls := func(user, more string) (names []string) {
		for _, c := range r.whole("/v1/chat/completions", "", agentBody(user, more)).Choices[0].Message.Calls {
			names = append(names, c.Function.Name)
		}
		return names
	}
	for i := range 4 {
		user := fmt.Sprintf("fix it %d [[calls=3]]", i)
		if got := calls(user, `,"tool_choice":"none"`); len(got) > 0 {
			t.Errorf("none: %q", got)
		}
		if got := calls(user, `,"tool_choice":{"type":"function","function":{"name":"naïve"}}`); len(got) != 1 ||
			got[0] != "naïve" {
			t.Errorf("by name: %q", got)
		}
		if got := calls(user, `,"tool_choice":"required"`); len(got) != 3 {
			t.Errorf("required: %q", got)
		}
		if got := calls(user, `,"parallel_tool_calls":false`); len(got) != 1 {
			t.Errorf("not parallel: %q", got)
		}
	}
	for _, more := range []string{`,"tool_choice":{"type":"function","function":{"name":"rm"}}`,
		`,"response_format":{"type":"json_schema"}`} {
		if status, body := r.ask("/v1/chat/completions", "", agentBody("x", more)); status != 400 {
			t.Errorf("%s: %d %s", more, status, body)
		}
	}
}

// A loop calls until its rounds are over, and each turn finds what the turn before it computed and said in the cache.
func TestAToolLoopFindsItsOwnCallsInTheCache(t *testing.T) {
	r := toolsEngine(t)
	messages := []any{map[string]any{"role": "user", "content": "find the leak [[rounds=6 text=3]]"}}
	before := 0
	for round := range 7 {
		body, _ := json.Marshal(map[string]any{"messages": messages, "tools": json.RawMessage(agentTools)})
		got := r.whole("/v1/chat/completions", "", string(body))
		m := got.Choices[0].Message
		if calls := len(m.Calls) > 0; calls != (round < 6) {
			t.Fatalf("round %d: %+v", round, m)
		}
		if c := got.Usage.Details.CachedTokens; c < before-8 {
			t.Errorf("round %d: %d cached of %d", round, c, before)
		}
		before = got.Usage.PromptTokens + got.Usage.CompletionTokens
		turn := map[string]any{"role": "assistant", "content": m.Content, "tool_calls": m.Calls}
		messages = append(messages, turn)
		for _, k := range m.Calls {
			messages = append(messages, map[string]any{"role": "tool", "tool_call_id": k.ID, "content": "nothing"})
		}
	}
}

func TestTheLastUsersMessageDirectsTheForm(t *testing.T) {
	r := toolsEngine(t)
	chunks := r.stream("/v1/chat/completions", "", agentBody("go [[reasoning=5 text=7 calls=2 args=9]]",
		`,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}`))
	var order []string
	for _, c := range chunks {
		switch d := c.Choices; {
		case len(d) == 0 || d[0].Delta.Role != "":
		case d[0].Delta.Reasoning != "":
			order = append(order, "r")
		case d[0].Delta.Content != "":
			order = append(order, "t")
		case len(d[0].Delta.Calls) > 0:
			order = append(order, fmt.Sprint(d[0].Delta.Calls[0].Index))
		}
	}
	got := strings.Join(order, "")
	if !strings.HasPrefix(got, "rrrrrttttttt00") || strings.Count(got, "1") < 2 || !slices.IsSorted(order[12:]) {
		t.Errorf("the answer is %s", got)
	}
	for i := 1; i < len(chunks); i++ {
		if chunks[i].Usage.CompletionTokens < chunks[i-1].Usage.CompletionTokens {
			t.Errorf("%d tokens after %d", chunks[i].Usage.CompletionTokens, chunks[i-1].Usage.CompletionTokens)
		}
	}
	m, _ := joined(t, chunks)
	low := r.whole("/v1/chat/completions", "", `{"messages":[{"role":"user","content":"x"}],"reasoning_effort":"low"}`)
	if m.Reasoning == "" || low.Choices[0].Message.Reasoning == "" || len(low.Choices[0].Message.Calls) > 0 {
		t.Errorf("%+v, %+v", m, low)
	}
	length := r.stream("/v1/chat/completions", "",
		agentBody("go [[text=0 calls=1 args=40]]", `,"stream":true,"max_tokens":30`))
	if _, finish := joined(t, length); finish != "length" {
		t.Errorf("a call that is cut ends with %q", finish)
	}
}

// An answer with reasoning and text goes on at any of its tokens as it was, calls included. JSON begins anew.
func TestAnAnswerWithReasoningIsContinuedFromAnyToken(t *testing.T) {
	r := toolsEngine(t)
	const user, id = "go [[reasoning=6 text=7 calls=2]]", "same"
	all := r.stream("/v1/chat/completions", id, agentBody(user, `,"stream":true`))
	want, _ := joined(t, all)
	for k := 1; ; k++ {
		begun, _ := joined(t, all[:k+1])
		if len(begun.Calls) > 0 {
			break
		}
		last, _ := json.Marshal(map[string]any{"role": "assistant", "content": begun.Content,
			"reasoning_content": begun.Reasoning})
		body := strings.Replace(agentBody(user, `,"stream":true,"continue_final_message":true,"continue_from":`+
			fmt.Sprint(k)+`,"add_generation_prompt":false`), `}],"tools"`, `},`+string(last)+`],"tools"`, 1)
		rest, finish := joined(t, r.stream("/v1/chat/completions", "other", body))
		rest.Content, rest.Reasoning = begun.Content+rest.Content, begun.Reasoning+rest.Reasoning
		if fmt.Sprint(rest) != fmt.Sprint(want) || finish != "tool_calls" {
			t.Fatalf("after %d:\n%+v\n%+v", k, rest, want)
		}
	}
	const format = `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object",
		"properties":{"why":{"type":"string"},"n":{"type":"integer"}}}}}`
	whole := r.whole("/v1/chat/completions", "", `{"messages":[{"role":"user","content":"x [[args=5]]"}],`+format+`}`)
	text := whole.Choices[0].Message.Content
	anew := r.whole("/v1/chat/completions", "", `{"messages":[{"role":"user","content":"x [[args=5]]"},
		{"role":"assistant","content":"{\"wh"}],"continue_final_message":true,"add_generation_prompt":false,
		"continue_from":2,`+format+`}`).Choices[0].Message.Content
	if !json.Valid([]byte(text)) || !strings.Contains(text, `"why"`) || anew != text {
		t.Errorf("JSON %q, continued %q", text, anew)
	}
}

func TestCharactersAndIntervalsDoNotChangeACall(t *testing.T) {
	const user = "go [[reasoning=5 text=7 calls=3 args=12]]"
	want, _ := joined(t, toolsEngine(t).stream("/v1/chat/completions", "", agentBody(user, `,"stream":true`)))
	for interval := 1; interval < 6; interval++ {
		c := fast()
		c.Text, c.Blocks, c.StreamInterval, c.SplitCharacters = emulator.TextTools, 4096, interval, interval%2 == 0
		got, _ := joined(t, start(t, c).stream("/v1/chat/completions", "", agentBody(user, `,"stream":true`)))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d tokens an event: %+v\n%+v", interval, got, want)
		}
	}
}

func TestTheOfficialClientTakesToolCalls(t *testing.T) {
	r := toolsEngine(t)
	client := openai.NewClient(option.WithBaseURL(r.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	stream := client.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model: "debug", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go [[text=4 calls=2]]")},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(
			openai.FunctionDefinitionParam{Name: "read_file", Parameters: openai.FunctionParameters{"type": "object",
				"properties": map[string]any{"path": map[string]any{"type": "string"}}}})},
	})
	acc, finished := openai.ChatCompletionAccumulator{}, 0
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("the chunk does not fit: %s", stream.Current().RawJSON())
		}
		if call, ok := acc.JustFinishedToolCall(); ok && json.Valid([]byte(call.Arguments)) {
			finished++
		}
	}
	if stream.Err() != nil || finished != 2 || acc.Choices[0].FinishReason != "tool_calls" {
		t.Errorf("%d calls, %v, %+v", finished, stream.Err(), acc.Choices)
	}
}
