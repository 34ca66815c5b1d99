package emulator_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	aoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"octet/engine/emulator"
)

func doorsEngine(t testing.TB) *rig {
	c := fast()
	c.Doors = []string{emulator.DoorMessages, emulator.DoorResponses}
	return start(t, c)
}

// Messages are answered as the chat that they are, whole and streamed, for the official client.
func TestTheEngineServesMessages(t *testing.T) {
	r := doorsEngine(t)
	c := anthropic.NewClient(aoption.WithBaseURL(r.url), aoption.WithAPIKey("none"), aoption.WithMaxRetries(0),
		aoption.WithHeader("X-Request-Id", "one"))
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 5,
		System: []anthropic.TextBlockParam{{Text: "be brief"}},
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("read it")),
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("t", map[string]any{"at": 1}, "ls")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("t", "a b", true))}}
	whole, err := c.Messages.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	stream, streamed := c.Messages.NewStreaming(t.Context(), p), anthropic.Message{}
	for stream.Next() {
		if err := streamed.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	chat := r.whole("/v1/chat/completions", "one", `{"model":"debug","max_tokens":5,"messages":[{"role":"system",`+
		`"content":"be brief"},{"role":"user","content":"read it"},{"role":"assistant","tool_calls":[{"id":"t",`+
		`"type":"function","function":{"name":"ls","arguments":"{\"at\":1}"}}]},{"role":"tool","tool_call_id":"t",`+
		`"content":[{"type":"text","text":"a b"}]}]}`)
	count, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "debug",
		System:   anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: p.System},
		Messages: p.Messages})
	if err != nil || int(count.InputTokens) != chat.Usage.PromptTokens {
		t.Errorf("%v: %d tokens, not %d", err, count.InputTokens, chat.Usage.PromptTokens)
	}
	for _, m := range []anthropic.Message{*whole, streamed} {
		u := m.Usage
		if len(m.Content) != 1 || m.Content[0].Text != chat.Choices[0].Message.Content ||
			int(u.InputTokens+u.CacheReadInputTokens) != chat.Usage.PromptTokens || u.OutputTokens != 5 ||
			m.StopReason != "max_tokens" {
			t.Errorf("%s\nwhere a chat is %+v", m.RawJSON(), chat)
		}
	}
}

// Responses are answered as the chat that they are, whole and streamed, for the official client.
func TestTheEngineServesResponses(t *testing.T) {
	r := doorsEngine(t)
	c := openai.NewClient(option.WithBaseURL(r.url+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0),
		option.WithHeader("X-Request-Id", "one"))
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("read it", "user"),
		responses.ResponseInputItemParamOfFunctionCall(`{"at":1}`, "t", "ls"),
		responses.ResponseInputItemParamOfFunctionCallOutput("a b")}
	items[2].OfFunctionCallOutput.CallID = openai.String("t")
	p := responses.ResponseNewParams{Model: "debug", MaxOutputTokens: openai.Int(5), Store: openai.Bool(false),
		Instructions: openai.String("be brief"), Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items}}
	whole, err := c.Responses.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	stream, streamed, deltas := c.Responses.NewStreaming(t.Context(), p), responses.Response{}, ""
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			deltas += e.Delta
		case "response.incomplete":
			streamed = e.Response
		}
	}
	chat := r.whole("/v1/chat/completions", "one", `{"model":"debug","max_tokens":5,"messages":[{"role":"system",`+
		`"content":"be brief"},{"role":"user","content":"read it"},{"role":"assistant","tool_calls":[{"id":"t",`+
		`"type":"function","function":{"name":"ls","arguments":"{\"at\":1}"}}]},{"role":"tool","tool_call_id":"t",`+
		`"content":"a b"}]}`)
	for _, m := range []responses.Response{*whole, streamed} {
		if text := m.OutputText(); text == "" || text != chat.Choices[0].Message.Content || text != deltas ||
			int(m.Usage.InputTokens) != chat.Usage.PromptTokens || m.Usage.OutputTokens != 5 ||
			m.IncompleteDetails.Reason != "max_output_tokens" {
			t.Errorf("%s\nwhere a chat is %+v", m.RawJSON(), chat)
		}
	}
}

// What is refused or breaks is told in the words of the door. An engine serves the doors that it was given.
func TestTheEngineFailsInTheWordsOfItsDoor(t *testing.T) {
	r := doorsEngine(t)
	for path, c := range map[string][2]string{
		"/v1/messages":  {`{"max_tokens":0,"messages":[]}`, `"type":"error"`},
		"/v1/responses": {`{"input":"a","store":true}`, `"param":"store"`},
	} {
		if status, body := r.ask(path, "", c[0]); status != 400 || !strings.Contains(body, c[1]) {
			t.Errorf("%s: %d %s", path, status, body)
		}
		r.ask("/admin/faults", "", `{"kind":"error_event","k":2}`)
		body := `{"max_tokens":9,"stream":true,"input":"a","messages":[{"role":"user","content":"a"}]}`
		if _, answer := r.ask(path, "", body); strings.Count(answer, "event: error\ndata: ") != 1 ||
			strings.Contains(answer, `"choices"`) {
			t.Errorf("%s: %s", path, answer)
		}
		resp, err := http.Get(r.url + path)
		if err != nil || resp.StatusCode != 405 {
			t.Errorf("%s: %v", path, err)
		}
		resp.Body.Close()
		if status, _ := start(t, fast()).ask(path, "", c[0]); status != 404 {
			t.Errorf("%s is served without being asked for: %d", path, status)
		}
	}
	c := fast()
	c.Doors = []string{"chat"}
	if _, err := emulator.New(c); err == nil {
		t.Error("a door that there is not is taken")
	}
}
