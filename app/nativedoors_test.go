package app_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"

	"octet/engine/emulator"
)

// nativeEngines serve both doors.
func nativeEngines() []emulator.Config {
	engines := smallEngines()
	for i := range engines {
		engines[i].Doors = []string{emulator.DoorMessages, emulator.DoorResponses}
	}
	return engines
}

const (
	messageBody  = `{"model":"debug","max_tokens":6,"stream":%t,"messages":[{"role":"user","content":"hello"}]}`
	responseBody = `{"model":"debug","max_output_tokens":6,"stream":%t,"input":"hello"}`
)

// doorEngine keeps what it was sent, and serves what says.
type doorEngine struct {
	paths, bodies []string
	url           string
}

func newDoorEngine(t *testing.T, says map[string]string) *doorEngine {
	e := &doorEngine{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer, known := says[r.URL.Path]
		switch {
		case r.URL.Path == "/health":
			return
		case !known:
			http.NotFound(w, r)
			return
		case r.Method == "GET":
			w.WriteHeader(405)
			return
		}
		e.paths, e.bodies = append(e.paths, r.URL.Path), append(e.bodies, string(body))
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	e.url = s.URL
	return e
}

const (
	nativeMessage = `{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"text","text":"a"},` +
		`{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"cache_read_input_tokens":4,` +
		`"output_tokens":2}}`
	nativeResponse = `{"id":"r","object":"response","status":"completed","model":"x","output":[{"type":"message",` +
		`"content":[{"type":"output_text","text":"ab"}]}],"usage":{"input_tokens":7,"output_tokens":2}}`
	chatAnswer = `{"id":"c","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"ab"},` +
		`"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`
)

func (e *doorEngine) world(t *testing.T, replica string, sets ...string) *world {
	return newWorld(t, fmt.Sprintf("auth: {anonymous: true}\nspecialists: [{name: debug, context: 4096, replicas: "+
		"[{url: '%s', model: theirs, blocks: 512%s}]}]\n", e.url, replica), nil, sets...)
}

// A body passes as it was sent, but for what the gateway sets; the answer passes as it came, and is accounted for.
func TestADoorIsPassedThrough(t *testing.T) {
	e := newDoorEngine(t, map[string]string{"/v1/messages": nativeMessage, "/v1/responses": nativeResponse})
	w := e.world(t, ", engine: vllm, forward_priority: true")
	for _, c := range []struct{ path, sent, heard, answer string }{
		{"/v1/messages",
			`{ "max_tokens":6, "model" : "debug","messages":[{"role":"user","content":"h\u0065"}],"top_p":0}`,
			`{ "max_tokens":6, "model" : "theirs","messages":[{"role":"user","content":"h\u0065"}],"top_p":1e-6}`,
			nativeMessage},
		{"/v1/responses", `{"input":"he","model":"debug","store":null}`,
			`{"input":"he","model":"theirs","store":false}`, nativeResponse},
		{"/v1/responses", `{"input":"he","model":"debug"}`,
			`{"store":false,"input":"he","model":"theirs"}`, nativeResponse},
	} {
		resp, answer := w.Post(c.path, c.sent)
		n := len(e.paths) - 1
		if string(answer) != c.answer || resp.Header.Get("X-Door") != "native" || n < 0 || e.paths[n] != c.path ||
			e.bodies[n] != c.heard {
			t.Fatalf("%d %s\nX-Door: %s\nsent on as %s", resp.StatusCode, answer, resp.Header.Get("X-Door"), e.bodies)
		}
		r := w.receiptOf(resp.Header).Result
		if r.PromptTokens != 7 || r.CompletionTokens != 2 || r.Finish != "stop" {
			t.Errorf("the receipt says %+v", r)
		}
	}
}

// What a door of the engine's has no member for makes the request a chat: it is not dropped.
func TestADoorThatCannotSayAllIsTranslated(t *testing.T) {
	e := newDoorEngine(t, map[string]string{"/v1/messages": nativeMessage, "/v1/responses": nativeResponse,
		"/v1/chat/completions": chatAnswer})
	ranked := e.world(t, ", engine: vllm, forward_priority: true")
	message, response := fmt.Sprintf(messageBody, false), fmt.Sprintf(responseBody, false)
	for _, c := range []struct{ path, body, priority, door string }{
		{"/v1/messages", message, "0", "native"}, {"/v1/messages", message, "5", "translated"},
		{"/v1/responses", response, "5", "native"},
	} {
		resp, answer := ranked.Post(c.path, c.body, "X-Priority", c.priority)
		if got := resp.Header.Get("X-Door"); got != c.door || c.priority == "5" &&
			!strings.Contains(e.bodies[len(e.bodies)-1], `"priority":-5`) {
			t.Errorf("%s at %s: %q, %s\n%s", c.path, c.priority, got, answer, e.bodies)
		}
	}
	salted := newWorld(t, "auth: {anonymous: false, tenants: [{name: a, key_sha256: "+
		"2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683}]}\n"+
		"specialists: [{name: debug, context: 4096, replicas: [{url: '"+e.url+"', engine: vllm, blocks: 512}]}]\n", nil)
	salted.Key = "key"
	for path, c := range map[string][2]string{"/v1/messages": {message, "translated"},
		"/v1/responses": {response, "native"}} {
		resp, answer := salted.Post(path, c[0])
		if got := resp.Header.Get("X-Door"); got != c[1] ||
			!strings.Contains(e.bodies[len(e.bodies)-1], `"cache_salt":"`) {
			t.Errorf("%s: %q, %s\n%s", path, got, answer, e.bodies)
		}
	}
}

// What an engine's own door would not show its model as our prompt has it makes the request a chat.
func TestADoorThatWouldShowAnotherPromptIsTranslated(t *testing.T) {
	e := newDoorEngine(t, map[string]string{"/v1/messages": nativeMessage, "/v1/chat/completions": chatAnswer})
	const call = `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t",` +
		`"name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"`
	const said = `"messages":[{"role":"user","content":"a"}]`
	const billed = `"x-anthropic-billing-header: cch=1;`
	for members, want := range map[string][2]string{ // at vllm, and at openai
		`"messages":[` + call + `}]}]`:                                                   {"native", "native"},
		`"messages":[` + call + `,"is_error":true}]}]`:                                   {"translated", "translated"},
		said + `,"tools":[{"name":"f","input_schema":{}}],"tool_choice":{"type":"auto"}`: {"native", "native"},
		said + `,"tools":[{"name":"f","input_schema":{}},{"name":"g","input_schema":{},"strict":true}]`: {"translated",
			"native"},
		said + `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`: {"translated", "native"},
		said + `,"output_format":{"type":"json_schema","schema":{}}`:             {"translated", "native"},
		said + `,"output_config":{"format":{"type":"json_schema","schema":{}}}`:  {"native", "native"},
		`"messages":[{"role":"user","content":"a"}],"system":[{"type":"text","text":` + billed + `"}]`: {"native",
			"translated"},
		`"messages":[{"role":"user","content":"a"}],"system":` + billed + `\nb"`: {"translated", "translated"},
	} {
		for i, kind := range []string{"vllm", "openai"} {
			w := e.world(t, ", engine: "+kind)
			resp, answer := w.Post("/v1/messages", `{"model":"debug","max_tokens":6,`+members+`}`)
			if got := resp.Header.Get("X-Door"); got != want[i] || resp.StatusCode != 200 {
				t.Errorf("%s at %s: %q, %s", members, kind, got, answer)
			}
		}
	}
}

// Likewise at Responses, for a format that vLLM's door passes over.
func TestAFormatThatADoorPassesOverIsTranslated(t *testing.T) {
	e := newDoorEngine(t, map[string]string{"/v1/responses": nativeResponse, "/v1/chat/completions": chatAnswer})
	for format, want := range map[string][2]string{ // at vllm, and at openai
		`{"type":"text"}`: {"native", "native"},
		`{"type":"json_schema","name":"n","schema":{}}`: {"native", "native"},
		`{"type":"json_object"}`:                        {"translated", "native"},
	} {
		for i, kind := range []string{"vllm", "openai"} {
			w := e.world(t, ", engine: "+kind)
			resp, answer := w.Post("/v1/responses", `{"model":"debug","input":"a","text":{"format":`+format+`}}`)
			if got := resp.Header.Get("X-Door"); got != want[i] || resp.StatusCode != 200 {
				t.Errorf("%s at %s: %q, %s", format, kind, got, answer)
			}
		}
	}
}

// What the configuration says of a replica's doors holds, whatever its engine tells.
func TestAReplicasDoorsAreConfigured(t *testing.T) {
	both := map[string]string{"/v1/messages": nativeMessage, "/v1/chat/completions": chatAnswer}
	for doors, want := range map[string]string{"": "native", ", doors: []": "translated", ", doors: [auto]": "native",
		", doors: [responses]": "translated", ", engine: llamacpp": "translated",
		", engine: llamacpp, doors: [messages]": "native"} {
		w := newDoorEngine(t, both).world(t, doors)
		if resp, answer := w.Post("/v1/messages", fmt.Sprintf(messageBody, false)); resp.Header.Get("X-Door") != want {
			t.Errorf("%q: %d %q %s", doors, resp.StatusCode, resp.Header.Get("X-Door"), answer)
		}
	}
}

// An engine that does not serve what it is said to serve is asked for a chat at once, and not asked again.
func TestAnEngineThatHasNoDoorIsAskedForAChat(t *testing.T) {
	e := newDoorEngine(t, map[string]string{"/v1/chat/completions": chatAnswer})
	w := e.world(t, ", engine: vllm, doors: [messages]")
	for range 2 {
		resp, answer := w.Post("/v1/messages", fmt.Sprintf(messageBody, false))
		if resp.StatusCode != 200 || resp.Header.Get("X-Door") != "translated" ||
			resp.Header.Get("X-Attempts") != "1" {
			t.Errorf("%d %v %s", resp.StatusCode, resp.Header, answer)
		}
	}
	none := newDoorEngine(t, nil).world(t, ", engine: vllm, doors: [messages]")
	if resp, answer := none.Post("/v1/messages", fmt.Sprintf(messageBody, false)); resp.StatusCode != 404 {
		t.Errorf("%d %s", resp.StatusCode, answer)
	}
}

// Another replica takes over as long as nothing was generated, in words of its own: X-Door is of the one that answers.
func TestADoorFailsOverToAReplicaWithoutIt(t *testing.T) {
	for _, c := range []struct{ path, body, good string }{{"/v1/messages", messageBody, "message_stop"},
		{"/v1/responses", responseBody, "response.incomplete"}} {
		for _, fault := range []string{emulator.DieAfterHeaders, emulator.Garbage, emulator.ErrorEvent, emulator.Cut} {
			engines := nativeEngines()
			engines[1].Doors = nil
			w := newWorld(t, smallWorld, engines)
			w.Fault("debug-0", `{"kind":"`+fault+`","k":0,"times":9}`)
			seen := map[string]bool{}
			for i := range 8 {
				body := strings.Replace(fmt.Sprintf(c.body, true), "hello", fmt.Sprintf("hello %d", i), 1)
				resp, answer := w.Post(c.path, body)
				seen[resp.Header.Get("X-Attempts")] = true
				if resp.Header.Get("X-Door") != "translated" || strings.Count(string(answer), "event: "+c.good) != 1 ||
					strings.Contains(string(answer), "event: error") {
					t.Errorf("%s under %s: %v\n%s", c.path, fault, resp.Header, answer)
				}
			}
			if !seen["2"] {
				t.Errorf("%s under %s: attempts %v", c.path, fault, seen)
			}
		}
	}
}

// An answer never has more tokens than were asked for, whatever its engine does, and ends well.
func TestANativeStreamIsCut(t *testing.T) {
	for _, c := range []struct{ path, body, good string }{{"/v1/messages", messageBody, "message_stop"},
		{"/v1/responses", responseBody, "response.incomplete"}} {
		w := newWorld(t, smallWorld, nativeEngines())
		whole, _ := w.Post(c.path, fmt.Sprintf(c.body, true))
		w.Fault("debug-0", `{"kind":"overrun","k":9,"times":9}`)
		w.Fault("debug-1", `{"kind":"overrun","k":9,"times":9}`)
		resp, answer := w.Post(c.path, fmt.Sprintf(c.body, true))
		if n := strings.Count(string(answer), "_delta\",\"text") + strings.Count(string(answer),
			"event: response.output_text.delta"); n != 6 || strings.Count(string(answer), "event: "+c.good) != 1 ||
			resp.Header.Get("X-Door") != "native" || whole.Header.Get("X-Door") != "native" ||
			!strings.Contains(string(answer), `"output_tokens":6`) && c.path == "/v1/messages" {
			t.Errorf("%s: %d deltas of 6\n%s", c.path, n, answer)
		}
	}
}

// A native stream that breaks has one error for its end, in the door's words, and no good one.
func TestANativeStreamThatBreaksEndsWithOneError(t *testing.T) {
	for _, c := range []struct{ path, body string }{{"/v1/messages", messageBody}, {"/v1/responses", responseBody}} {
		for fault, code := range map[string]string{emulator.ErrorEvent: "upstream_reset",
			emulator.Garbage: "upstream_protocol_error", emulator.Cut: "upstream_reset",
			emulator.DieAfterTokens: "upstream_reset", emulator.Flood: "upstream_protocol_error"} {
			w := newWorld(t, smallWorld, nativeEngines(), "limits.continuations=0")
			for _, replica := range []string{"debug-0", "debug-1"} {
				w.Fault(replica, `{"kind":"`+fault+`","k":3,"times":1}`)
			}
			resp := w.Ask(t.Context(), c.path, fmt.Sprintf(c.body, true))
			raw, err := io.ReadAll(resp.Body)
			text := string(raw)
			if err == nil || strings.Count(text, "event: error\n") != 1 || !strings.Contains(text, code) ||
				strings.Contains(text, "message_stop") || strings.Contains(text, "response.completed") ||
				strings.Contains(text, "EngineCore") || !strings.HasSuffix(text, "}\n\n") {
				t.Errorf("%s under %s: %v\n%s", c.path, fault, err, text)
			}
		}
	}
}

// The SDK takes a native stream's calls of a tool, and what was read of it is in the receipt.
func TestNativeUsageIsAccountedFor(t *testing.T) {
	w := newWorld(t, smallWorld, nativeEngines())
	long := strings.Repeat("a long beginning that is kept ", 20)
	p := anthropic.MessageNewParams{Model: "debug", MaxTokens: 6, Messages: []anthropic.MessageParam{say(long)}}
	var told []int64
	for range 3 {
		m, err := streamedMessage(t, messagesClient(w), p)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, m.Usage.CacheReadInputTokens)
	}
	if !slices.IsSorted(told) || told[2] == 0 {
		t.Errorf("cached: %v", told)
	}
	resp, _ := w.Post("/v1/messages", strings.Replace(fmt.Sprintf(messageBody, true), "hello", long, 1))
	r := w.receiptOf(resp.Header)
	if r.Result.CachedTokens == nil || *r.Result.CachedTokens == 0 || r.Result.CompletionTokens != 6 ||
		r.Result.PromptTokens < *r.Result.CachedTokens || r.Result.Finish != "length" || r.Result.TTFTMs == 0 ||
		resp.Header.Get("X-Door") != "native" {
		t.Errorf("%+v", r.Result)
	}
}
