package app_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"octet/engine/emulator"
)

// responsesClient returns the unmodified SDK, at the gateway's door.
func responsesClient(w *world, more ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{option.WithBaseURL(w.Data + "/v1"), option.WithAPIKey("none"),
		option.WithMaxRetries(0), option.WithHTTPClient(judged(w.T))}, more...)...)
}

// streamedResponse asks for a stream and returns the response of its good end.
func streamedResponse(t *testing.T, c openai.Client, p responses.ResponseNewParams) (whole responses.Response,
	deltas string) {
	t.Helper()
	stream, ends := c.Responses.NewStreaming(t.Context(), p), 0
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta", "response.function_call_arguments.delta":
			deltas += e.Delta
		case "response.completed", "response.incomplete":
			whole = e.Response
			ends++
		}
	}
	if err := stream.Err(); err != nil || ends != 1 {
		t.Fatalf("%d good ends, %v", ends, err)
	}
	return whole, deltas
}

// Issue 20: OpenAI's own client is at home at the door, unary and streamed.
func TestResponsesAreAnsweredAsAChatIs(t *testing.T) { inDoorModes(t, responsesAsAChat) }

func responsesAsAChat(t *testing.T, mode string, engines []emulator.Config) {
	w := newWorld(t, smallWorld, engines)
	var resp *http.Response
	c := responsesClient(w, option.WithHeader("X-Request-Id", "one"), option.WithResponseInto(&resp))
	p := responses.ResponseNewParams{Model: "debug", MaxOutputTokens: openai.Int(6),
		Instructions: openai.String("be brief"),
		Input:        responses.ResponseNewParamsInputUnion{OfString: openai.String("hello")}}
	whole, err := c.Responses.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("X-Door") != mode || resp.Header.Get("X-Specialist") != "debug" {
		t.Errorf("%v", resp.Header)
	}
	streamed, deltas := streamedResponse(t, c, p)
	_, chat := w.Post("/v1/chat/completions", `{"model":"debug","max_tokens":6,"messages":[{"role":"system",`+
		`"content":"be brief"},{"role":"user","content":"hello"}]}`, "X-Request-Id", "one")
	for _, r := range []responses.Response{*whole, streamed} {
		if text := r.OutputText(); text == "" || text != deltas ||
			!strings.Contains(string(chat), `"content":"`+text+`"`) ||
			r.Status != "incomplete" || r.IncompleteDetails.Reason != "max_output_tokens" ||
			r.Usage.OutputTokens != 6 ||
			r.Instructions.OfString != "be brief" {
			t.Errorf("%s\nwhere a chat is %s", r.RawJSON(), chat)
		}
	}
	for body, want := range map[string]string{
		`{"model":"debug","input":"a",` +
			`"store":true}`: `"code":"unsupported_parameter","param":"store"`,
		`{"model":"debug","input":"a",` +
			`"previous_response_id":"r"}`: `"code":"unsupported_parameter","param":"previous_response_id"`,
		`{"model":"debug","input":"a",` +
			`"max_output_tokens":4096}`: `"code":"context_length_exceeded","param":"max_output_tokens"`,
		`{"model":"debug","input":[{"role":"user","content":[{"type":"input_image",` +
			`"image_url":"https://a/b"}]}]}`: `"code":"unsupported_content","param":"input[0]"`,
	} {
		if resp, answer := w.Post("/v1/responses", body); resp.StatusCode != 400 ||
			!strings.Contains(string(answer), want) {
			t.Errorf("%s: %d %s", body, resp.StatusCode, answer)
		}
	}
}

// A tool loop of the SDK's own types.
func TestAToolLoopOfResponses(t *testing.T) {
	heard := make(chan string, 8)
	w := newWorld(t, "auth: {anonymous: true}\nspecialists: [{name: debug, context: 4096, replicas: [{url: '"+
		toolEngine(t, heard)+"', engine: openai, blocks: 512}]}]\n", nil)
	c := responsesClient(w)
	items := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("what is there?", "user")}
	p := responses.ResponseNewParams{Model: "debug",
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: items},
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction("ls", map[string]any{"type": "object"}, false)}}
	first, _ := streamedResponse(t, c, p)
	if len(first.Output) != 3 || first.Output[0].Type != "reasoning" || first.OutputText() != "I look" ||
		first.Output[2].CallID != "t1" || first.Output[2].AsFunctionCall().Arguments != `{"at":"/"}` {
		t.Fatalf("%s", first.RawJSON())
	}
	<-heard
	call := first.Output[2].AsFunctionCall()
	result := responses.ResponseInputItemParamOfFunctionCallOutput("a b")
	result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
	p.Input.OfInputItemList = append(items,
		responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.CallID, call.Name),
		result)
	if second, _ := streamedResponse(t, c, p); second.OutputText() != "two files" || second.Status != "completed" {
		t.Errorf("%s", second.RawJSON())
	}
	if body := <-heard; !strings.Contains(body, `{"role":"tool","tool_call_id":"t1","content":"a b"}`) {
		t.Errorf("the engine heard %s", body)
	}
}

// A stream that has begun has one error for its end, and no good one.
func TestAStreamOfResponsesThatBreaksEndsWithOneError(t *testing.T) {
	w := newWorld(t, "auth: {anonymous: true}\nspecialists: [{name: debug, context: 4096, replicas: [{url: '"+
		dyingEngine(t)+"', engine: openai, blocks: 512}]}]\n", nil)
	resp := w.Ask(t.Context(), "/v1/responses", `{"model":"debug","stream":true,"input":"a"}`)
	raw, err := io.ReadAll(resp.Body)
	if err == nil || strings.Count(string(raw), "event: error\n") != 1 ||
		strings.Contains(string(raw), "response.completed") ||
		!strings.Contains(string(raw), `"code":"upstream_reset"`) {
		t.Errorf("%v, %s", err, raw)
	}
}
