package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"octet/engine/emulator"
)

// messagesClient returns the unmodified SDK, at the gateway's door.
func messagesClient(w *world, more ...option.RequestOption) anthropic.Client {
	return anthropic.NewClient(append([]option.RequestOption{option.WithBaseURL(w.Data), option.WithAPIKey("none"),
		option.WithMaxRetries(0), option.WithHTTPClient(judged(w.T))}, more...)...)
}

func say(text string) anthropic.MessageParam {
	return anthropic.NewUserMessage(anthropic.NewTextBlock(text))
}

// streamedMessage asks for a stream and puts it together as the SDK does.
func streamedMessage(t *testing.T, c anthropic.Client, p anthropic.MessageNewParams) (anthropic.Message, error) {
	t.Helper()
	stream, whole, ends := c.Messages.NewStreaming(t.Context(), p), anthropic.Message{}, 0
	for stream.Next() {
		if err := whole.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
		if stream.Current().Type == "message_stop" {
			ends++
		}
	}
	if good := stream.Err() == nil; good != (ends == 1) {
		t.Errorf("%d good ends, and %v", ends, stream.Err())
	}
	return whole, stream.Err()
}

// doorModes are the ways in which a door is answered, and the engines that bring each about.
var doorModes = map[string][]string{"native": {emulator.DoorMessages, emulator.DoorResponses}, "translated": nil}

// inDoorModes runs a test with engines that serve the doors, and with engines that do not.
func inDoorModes(t *testing.T, test func(t *testing.T, mode string, engines []emulator.Config)) {
	for mode, doors := range doorModes {
		engines := smallEngines()
		for i := range engines {
			engines[i].Doors = doors
		}
		t.Run(mode, func(t *testing.T) { test(t, mode, engines) })
	}
}

// Issue 20: the official client is at home at the door, and gets what a chat's client gets.
func TestMessagesAreAnsweredAsAChatIs(t *testing.T) { inDoorModes(t, answeredAsAChat) }

func answeredAsAChat(t *testing.T, mode string, engines []emulator.Config) {
	w := newWorld(t, smallWorld, engines)
	var resp *http.Response
	c := messagesClient(w, option.WithHeader("X-Request-Id", "one"), option.WithResponseInto(&resp))
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 6,
		System:   []anthropic.TextBlockParam{{Text: "be brief"}},
		Messages: []anthropic.MessageParam{say("hello")}}
	whole, err := c.Messages.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"X-Door": mode, "X-Specialist": "debug", "X-Request-Id": "one",
		"X-Routed-By": "model", "X-Attempts": "1"} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
	streamed, err := streamedMessage(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	_, chat := w.Post("/v1/chat/completions", `{"model":"debug","max_tokens":6,"messages":[{"role":"system",`+
		`"content":[{"type":"text","text":"be brief"}]},{"role":"user","content":[{"type":"text","text":"hello"}]}]}`,
		"X-Request-Id", "one")
	var said struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Prompt int64 `json:"prompt_tokens"`
		}
	}
	if err := json.Unmarshal(chat, &said); err != nil {
		t.Fatal(err)
	}
	for _, m := range []anthropic.Message{*whole, streamed} {
		u := m.Usage
		if len(m.Content) != 1 || m.Content[0].Text != said.Choices[0].Message.Content ||
			m.StopReason != "max_tokens" ||
			u.OutputTokens != 6 || u.InputTokens+u.CacheReadInputTokens != said.Usage.Prompt || m.Role != "assistant" {
			t.Errorf("%s\nwhere a chat is %s", m.RawJSON(), chat)
		}
	}
}

// toolEngine calls a tool when it is asked for the first time, and answers when it has the result.
func toolEngine(t *testing.T, heard chan<- string) string {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			return
		}
		heard <- string(body)
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := func(delta, finish string) {
			fmt.Fprintf(
				w,
				"data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}"+
					"\n\n",
				delta, finish)
		}
		if strings.Contains(string(body), `"role":"tool"`) {
			chunk(`"role":"assistant","content":"two files"`, `"stop"`)
		} else {
			chunk(`"role":"assistant","reasoning_content":"let me see"`, "null")
			chunk(`"content":"I look"`, "null")
			chunk(`"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"ls","arguments":""}}]`,
				"null")
			chunk(`"tool_calls":[{"index":0,"function":{"arguments":"{\"at\":\"/\"}"}}]`, "null")
			chunk("", `"tool_calls"`)
		}
		fmt.Fprint(
			w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(engine.Close)
	return engine.URL
}

// A tool loop of the SDK's own types: thought, text and call are told, and come back as the engine's template knows
// them.
func TestAToolLoopOfMessages(t *testing.T) {
	heard := make(chan string, 8)
	w := newWorld(t, "auth: {anonymous: true}\nspecialists: [{name: debug, context: 4096, replicas: [{url: '"+
		toolEngine(t, heard)+"', engine: openai, blocks: 512}]}]\n", nil)
	c := messagesClient(w)
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 64,
		Messages: []anthropic.MessageParam{say("what is there?")},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: "ls",
			InputSchema: anthropic.ToolInputSchemaParam{
				Properties: map[string]any{"at": map[string]any{"type": "string"}}}}}}}
	first, err := streamedMessage(t, c, p)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(first.Content); n != 3 || first.StopReason != "tool_use" || first.Content[0].Thinking != "let me see" ||
		first.Content[1].Text != "I look" || string(first.Content[2].Input) != `{"at":"/"}` {
		t.Fatalf("%s", first.RawJSON())
	}
	if body := <-heard; !strings.Contains(body, `"tools":[{"type":"function","function":{"name":"ls"`) {
		t.Errorf("the engine heard %s", body)
	}
	p.Messages = append(p.Messages, first.ToParam(),
		anthropic.NewUserMessage(anthropic.NewToolResultBlock("t1", "a b", false)))
	second, err := streamedMessage(t, c, p)
	if err != nil || second.Content[0].Text != "two files" || second.StopReason != "end_turn" {
		t.Errorf("%v, %s", err, second.RawJSON())
	}
	const want = `{"role":"assistant","reasoning_content":"let me see","content":"I look","tool_calls":[{"id":"t1",` +
		`"type":"function","function":{"name":"ls","arguments":"{\"at\":\"/\"}"}}]},{"role":"tool","tool_call_id":"t1",`
	if body := <-heard; !strings.Contains(body, want) {
		t.Errorf("the engine heard %s", body)
	}
}

// Every error is in the door's shape, with the contract's code beside its type.
func TestErrorsOfMessages(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines(), "limits.body_bytes=4096")
	const hi = `"max_tokens":4,"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		body                        string
		status                      int
		kind, code, param, hdr, val string
	}{
		{`{"model":"debug",` + hi + `,"mcp_servers":[]}`, 400, "invalid_request_error", "unsupported_parameter",
			"mcp_servers", "", ""},
		{`{"model":"debug",` + hi + `,}`, 400, "invalid_request_error", "invalid_json", "", "", ""},
		{`{"model":"debug","messages":[]}`, 400, "invalid_request_error", "invalid_value", "messages", "", ""},
		{`{"model":"debug","max_tokens":4096,"messages":[{"role":"user","content":"hi"}]}`, 400,
			"invalid_request_error",
			"context_length_exceeded", "max_tokens", "", ""},
		{
			`{"model":"debug","max_tokens":4,"system":"s",` +
				`"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url",` +
				`"url":"https://a/b"}}]}]}`, 400, "invalid_request_error", "unsupported_content", "messages[0].content",
			"",
			""},
		{`{"model":"gpt",` + hi + `}`, 404, "not_found_error", "model_not_found", "model", "", ""},
		{`{"model":"debug",` + hi + `}`, 401, "authentication_error", "invalid_api_key", "Authorization",
			"Authorization", "Basic x"},
		{`{"model":"debug",` + hi + `}`, 415, "invalid_request_error", "unsupported_media_type", "Content-Type",
			"Content-Type", "text/plain"},
		{`{"model":"debug",` + hi + `,"system":"` + strings.Repeat("x", 5000) + `"}`, 413, "request_too_large",
			"payload_too_large", "", "", ""},
		{`{"model":"debug",` + hi + `}`, 504, "timeout_error", "deadline_exceeded", "", "X-Deadline-Ms", "1"},
	} {
		headers := []string{"X-Request-Id", "r1"}
		if c.hdr != "" {
			headers = append(headers, c.hdr, c.val)
		}
		resp, answer := w.Post("/v1/messages", c.body, headers...)
		var e struct {
			Type  string
			Error struct{ Type, Code, Message, Param string }
			ID    string `json:"request_id"`
		}
		err := json.Unmarshal(answer, &e)
		late := c.status == 504 && e.Error.Code == "deadline_unachievable" // said at once, where that is known
		if err != nil || e.Type != "error" || !late && (resp.StatusCode != c.status || e.Error.Type != c.kind ||
			e.Error.Code != c.code || e.Error.Param != c.param) || e.ID != "r1" || e.Error.Message == "" {
			if c.code == "invalid_api_key" && resp.StatusCode == 200 {
				continue // without keys, any will do
			}
			t.Errorf("%.80s: %d %s", c.body, resp.StatusCode, answer)
		}
	}
	resp, err := http.Get(w.Data + "/v1/messages")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if answer, _ := io.ReadAll(resp.Body); resp.StatusCode != 405 ||
		!strings.Contains(string(answer), `{"type":"error"`) {
		t.Errorf("%d %s", resp.StatusCode, answer)
	}
}

// The SDK's own error has the door's type, and its key is the tenant's.
func TestAKeyOfMessagesIsTheTenants(t *testing.T) {
	const keyed = `
auth: {tenants: [{name: acme, key_sha256: 2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683}]}
specialists: [{name: debug, context: 4096, tokenizer: builtin, replicas: [{url: "%s", blocks: 512}]}]
`
	w := newWorld(t, keyed, smallEngines()[:1])
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 2, Messages: []anthropic.MessageParam{say("hello")}}
	known, other := messagesClient(w, option.WithAPIKey("key")), messagesClient(w, option.WithAPIKey("other"))
	if _, err := known.Messages.New(t.Context(), p); err != nil {
		t.Error(err)
	}
	var refused *anthropic.Error
	if _, err := other.Messages.New(t.Context(), p); !errors.As(err, &refused) ||
		refused.StatusCode != 401 || !strings.Contains(refused.RawJSON(), `"authentication_error"`) {
		t.Errorf("%v", err)
	}
}

// dyingEngine answers with one event, and is gone.
func dyingEngine(t *testing.T) string {
	dying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(dying.Close)
	return dying.URL
}

// A stream that has begun has one error for its end, and no good one: the SDK sees it as the door's.
func TestAStreamOfMessagesThatBreaksEndsWithOneError(t *testing.T) {
	w := newWorld(t, "auth: {anonymous: true}\nspecialists: [{name: debug, context: 4096, replicas: [{url: '"+
		dyingEngine(t)+"', engine: openai, blocks: 512}]}]\n", nil)
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 20, Messages: []anthropic.MessageParam{say("hello")}}
	whole, err := streamedMessage(t, messagesClient(w), p)
	var broke *anthropic.Error
	if !errors.As(err, &broke) || !strings.Contains(broke.RawJSON(), `"code":"upstream_reset"`) ||
		len(whole.Content) != 1 || whole.Content[0].Text != "hi" {
		t.Errorf("%v, %s", err, whole.RawJSON())
	}
	resp := w.Ask(t.Context(), "/v1/messages",
		`{"model":"debug","stream":true,"max_tokens":20,"messages":[{"role":"user","content":"a"}]}`)
	raw, err := io.ReadAll(resp.Body)
	if err == nil || strings.Count(string(raw), "event: error\n") != 1 ||
		strings.Contains(string(raw), "message_stop") ||
		!strings.HasSuffix(string(raw), "}\n\n") {
		t.Errorf("%v, %s", err, raw)
	}
}

// count_tokens says what the engine's usage will say, runs nothing, and says so where only text is known.
func TestTokensOfMessagesAreCounted(t *testing.T) {
	w := newWorld(t, smallWorld, smallEngines())
	c := messagesClient(w)
	system := []anthropic.TextBlockParam{{Text: "be brief"}}
	turns := []anthropic.MessageParam{say("how long is this?")}
	count, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: "debug",
		System: anthropic.MessageCountTokensParamsSystemUnion{OfTextBlockArray: system}, Messages: turns})
	if err != nil {
		t.Fatal(err)
	}
	before := w.Engines["debug-0"].State().Cached + w.Engines["debug-1"].State().Cached
	if before != 0 {
		t.Errorf("counting has computed %d blocks", before)
	}
	whole, err := c.Messages.New(t.Context(),
		anthropic.MessageNewParams{Model: "debug", MaxTokens: 1, System: system, Messages: turns})
	if err != nil || count.InputTokens != whole.Usage.InputTokens+whole.Usage.CacheReadInputTokens {
		t.Errorf("%v: counted %d, the engine says %s", err, count.InputTokens, whole.Usage.RawJSON())
	}
	stream := c.Messages.NewStreaming(t.Context(),
		anthropic.MessageNewParams{Model: "debug", MaxTokens: 1, System: system, Messages: turns})
	if !stream.Next() || stream.Current().Message.Usage.InputTokens != count.InputTokens {
		t.Errorf("a stream begins with %s, where %d were counted", stream.Current().RawJSON(), count.InputTokens)
	}
	_ = stream.Close() // it is not read to its end
	for body, status := range map[string]int{`{"model":"debug"}`: 400,
		`{"model":"gpt","messages":[{"role":"user","content":"a"}]}`: 404} {
		if resp, answer := w.Post("/v1/messages/count_tokens", body); resp.StatusCode != status ||
			!strings.Contains(string(answer), `{"type":"error"`) {
			t.Errorf("%s: %d %s", body, resp.StatusCode, answer)
		}
	}
	textual := newWorld(t, strings.ReplaceAll(smallWorld, "tokenizer: builtin", "tokenizer: none"), smallEngines())
	resp, answer := textual.Post("/v1/messages/count_tokens",
		`{"model":"debug","messages":[{"role":"user","content":"a"}]}`)
	if resp.StatusCode != 422 || !strings.Contains(string(answer), `"unsupported_parameter"`) {
		t.Errorf("%d %s", resp.StatusCode, answer)
	}
}
