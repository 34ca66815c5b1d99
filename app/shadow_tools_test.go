package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"octet/calibration"
	"octet/calibration/lessons"
	"octet/engine/emulator"
)

const readTool = `{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":` +
	`{"path":{"type":"string"},"from":{"type":"integer"}},"required":["path","from"]}}}`

// asks is a body with members beside those of asking.
func asks(text string, stream bool, members string) string {
	return "{" + members + "," + asking(text, stream)[1:]
}

// callingEngines say the same calls and JSON, and each their own prose.
func callingEngines() []emulator.Config {
	all := proseEngines()
	for i := range all {
		all[i].Text = emulator.TextTools
	}
	return all
}

// Issue 20: a request with tools or a format has a shadow as any other, streamed or in one piece; two answers are
// compared by their calls, and as JSON.
func TestShadowsSeeToolCalls(t *testing.T) {
	const tools = `"tools":[` + readTool + `]`
	for _, row := range []struct {
		name, directive, members string
		prose                    int // the engine that calls nothing; below 0 is none
		class                    calibration.Class
		form                     calibration.Form
		match                    calibration.Match
	}{
		{"the same calls", "[[calls=2 text=0]]", tools, -1, calibration.Agree, calibration.FormCalls,
			calibration.SameCalls},
		{"other arguments", "[[calls=2 text=0 vary=1]]", tools, -1, calibration.Differ, calibration.FormCalls,
			calibration.OtherArguments},
		{"the same calls behind reasoning", "[[calls=1 text=0 reasoning=9]]", tools, -1, calibration.Agree,
			calibration.FormCalls, calibration.SameCalls},
		{"another text beside them", "[[calls=1 text=12]]", tools, -1, calibration.Differ, calibration.FormCalls,
			calibration.SameCalls},
		{"the primary calls", "[[calls=1 text=0]]", tools, 1, calibration.PrimaryCalls, calibration.FormCalls,
			calibration.OneCalls},
		{"the shadow calls", "[[calls=1 text=0]]", tools, 0, calibration.ShadowCalls, calibration.FormCalls,
			calibration.OneCalls},
		{"one calls where both must", "[[calls=1 text=0]]", tools + `,"tool_choice":"required"`, 0,
			calibration.ShadowBetter, calibration.FormCalls, calibration.OneCalls},
		{"tools that none calls", "[[calls=0]]", tools, -1, calibration.Differ, calibration.FormText, ""},
		{"the same JSON", "", `"response_format":{"type":"json_object"}`, -1, calibration.Agree, calibration.FormJSON,
			""},
		{"one is no JSON", "", `"response_format":{"type":"json_object"}`, 1, calibration.PrimaryBetter,
			calibration.FormJSON, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			engines := callingEngines()
			if row.prose >= 0 {
				engines[row.prose].Text = emulator.TextProse
			}
			w, file := newShadowWorld(t, engines, "shadow.prompts=text")
			for i, stream := range []bool{false, true} {
				body := strings.Replace(asks("unsure 0.60 "+row.directive, stream, row.members), `"max_tokens":40`,
					`"max_tokens":400`, 1)
				resp, answer := w.Post("/v1/chat/completions", body, "X-Intent", "review")
				if resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "systems" {
					t.Fatalf("status %d, shadow %q: %s", resp.StatusCode, resp.Header.Get("X-Shadow"), answer)
				}
				e := w.example(file, i+1)
				if e.Class != row.class || e.Form != row.form || e.Calls != row.match {
					t.Errorf("stream %v: %+v", stream, e)
				}
				for _, c := range append(e.Answers.Primary.Calls, e.Answers.Shadow.Calls...) {
					if c.Name != "read_file" || !json.Valid([]byte(c.Arguments)) || c.Hash == "" {
						t.Errorf("%+v", c)
					}
				}
				if !stream && !strings.Contains(string(answer), `"tool_calls":[`) && e.Answers.Primary.Calls != nil {
					t.Errorf("calls that the client did not get: %s", answer)
				}
			}
			if row.match != "" && !w.counted(`octet_shadow_tool_calls_total{calls="`+string(row.match)+
				`",intent="review"} 2`) {
				t.Error("comparisons of calls are not counted")
			}
			eventually(t, "ledgers at their baseline", w.Quiet)
		})
	}
}

// What came by another door is compared as the chat that it becomes, whichever door its engine served.
func TestShadowsOfOtherDoorsSeeToolCalls(t *testing.T) {
	const tool = `"name":"read_file",%q:{"type":"object","properties":{"path":{"type":"string"}},` +
		`"required":["path"]}}]}`
	for door, native := range map[string][]string{"translated": nil,
		"native": {emulator.DoorMessages, emulator.DoorResponses}} {
		engines := callingEngines()
		engines[0].Doors = native
		w, file := newShadowWorld(t, engines)
		n := 0
		for i, text := range []string{`unsure 0.60 [[calls=2 text=0]]`, `unsure 0.60 [[calls=2 text=0 vary=1]]`} {
			want := []calibration.Match{calibration.SameCalls, calibration.OtherArguments}[i]
			for _, stream := range []bool{false, true} {
				for path, body := range map[string]string{
					"/v1/messages": fmt.Sprintf(
						`{"model":"octet","max_tokens":400,"stream":%v,"messages":[{"role":"user",`+
							`"content":%q}],"tools":[{`+tool, stream, text, "input_schema"),
					"/v1/responses": fmt.Sprintf(`{"model":"octet","max_output_tokens":400,"stream":%v,"input":%q,`+
						`"tools":[{"type":"function","strict":false,`+tool, stream, text, "parameters"),
				} {
					n++
					resp, answer := w.Post(path, body, "X-Intent", "review")
					if resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "systems" ||
						resp.Header.Get("X-Door") != door || !strings.Contains(string(answer), "read_file") {
						t.Fatalf("%s: status %d, %v: %s", path, resp.StatusCode, resp.Header, answer)
					}
					if e := w.example(file, n); e.Calls != want || len(e.Answers.Primary.Calls) != 2 ||
						len(e.Answers.Shadow.Calls) != 2 || e.Answers.Primary.Finish != "tool_calls" {
						t.Errorf("%s %s, stream %v: %+v", door, path, stream, e)
					}
				}
			}
		}
	}
}

// A shadow is asked with the tools, the choice, the format and the results of tools that the client sent, and what its
// answer calls goes nowhere.
func TestAShadowIsAskedWithTheTools(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	engine := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		heard = append(heard, string(body))
		mu.Unlock()
		_, _ = io.WriteString(rw, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":`+
			`"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"erase_disk",`+
			`"arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	}))
	defer engine.Close()
	w, file := newShadowWorld(t, callingEngines(), "shadow.prompts=text", "specialists[1].replicas[0].url="+engine.URL,
		"specialists[1].replicas[0].engine=openai")
	members := `"tools":[` + readTool + `],"tool_choice":"auto","parallel_tool_calls":false,` +
		`"response_format":{"type":"json_object"}`
	var body map[string]any
	if err := json.Unmarshal([]byte(asks("unsure 0.60", false, members)), &body); err != nil {
		t.Fatal(err)
	}
	body["messages"] = append(body["messages"].([]any),
		map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": "c",
			"type": "function", "function": map[string]any{"name": "read_file", "arguments": `{"path":"a"}`}}}},
		map[string]any{"role": "tool", "tool_call_id": "c", "content": "int x;"})
	text, _ := json.Marshal(body)
	resp, answer := w.Post("/v1/chat/completions", string(text), "X-Intent", "review")
	if resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "systems" ||
		strings.Contains(string(answer), "erase_disk") {
		t.Fatalf("status %d, shadow %q: %s", resp.StatusCode, resp.Header.Get("X-Shadow"), answer)
	}
	// the tool was not offered, so the answer that calls it falls short
	e := w.example(file, 1)
	if calls := e.Answers.Shadow.Calls; len(calls) != 1 || calls[0].Name != "erase_disk" ||
		e.Class != calibration.PrimaryBetter {
		t.Errorf("%+v", e)
	}
	if !strings.Contains(e.Prompt.Text, "read_file") || !strings.Contains(e.Prompt.Text, "int x;") {
		t.Errorf("the prompt in the record: %s", e.Prompt.Text)
	}
	if got := learned(t, file); got != "int x;\n\nunsure 0.60" {
		t.Errorf("learned of it: %q", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(heard) != 1 {
		t.Fatalf("the shadow's engine was asked %d times", len(heard))
	}
	var sent map[string]any
	if err := json.Unmarshal([]byte(heard[0]), &sent); err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{"tools", "tool_choice", "parallel_tool_calls", "response_format", "messages"} {
		if !reflect.DeepEqual(sent[member], body[member]) {
			t.Errorf("%s: sent %v, asked %v", member, sent[member], body[member])
		}
	}
}

// learned is the text of the one lesson in a calibration file: what the classifier saw, without tools and calls.
func learned(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var records lessons.Records
	for line := range bytes.Lines(text) {
		records.Line(line)
	}
	all, counts, err := records.Lessons(
		lessons.Terms{Labels: func(specialist string) []string { return []string{specialist} }})
	if err != nil || len(all) != 1 || all[0].Label != "debug" {
		t.Fatalf("%v: %+v, %+v", err, all, counts)
	}
	return all[0].Text
}

// Comparisons of tool calls are a class of their own in what `octet calibrate` reports, and change nothing of what it
// says of texts.
func TestCalibrateReportsToolCallsApart(t *testing.T) {
	w, file := newShadowWorld(t, callingEngines())
	n := 0
	ask := func(body string) {
		w.Post("/v1/chat/completions", body, "X-Intent", "review")
		n++
		w.example(file, n)
	}
	for range 6 {
		ask(asking("unsure 0.70", false))
	}
	texts, err := calibrate(t, nil, file, "--min-samples=5")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		directive := []string{"unsure 0.70 [[text=0]]", "unsure 0.50 [[text=0 vary=1]]"}[i%2]
		ask(asks(directive, i%4 == 0, `"tools":[`+readTool+`]`))
	}
	both, err := calibrate(t, nil, file, "--min-samples=5")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(both, "review, answers of which one or both call tools: 12 comparisons")
	if at < 0 {
		t.Fatalf("no tool calls in\n%s", both)
	}
	section := func(text string) string { // of texts, without what counts records
		return text[strings.Index(text, "  classes: "):]
	}
	if !strings.HasPrefix(section(texts), section(both[:at])) || len(section(both[:at])) < 500 {
		t.Errorf("texts are reported as\n%s\nand beside tool calls as\n%s", texts, both[:at])
	}
	for _, want := range []string{"classes: agree 6, differ 6", "tool calls: arguments 6, same 6",
		"debug: 0 better, 0 worse, 6 the same, 6 open"} {
		if !strings.Contains(both[at:], want) {
			t.Errorf("no %q in\n%s", want, both[at:])
		}
	}
}

// A tool that an engine may run by itself is not offered twice.
func TestAToolThatAnEngineRunsHasNoShadow(t *testing.T) {
	w, file := newShadowWorld(t, callingEngines())
	resp, answer := w.Post("/v1/chat/completions",
		asks("unsure 0.60", false, `"tools":[`+readTool+`,{"type":"code_runner"}]`), "X-Intent", "review")
	if resp.StatusCode != 200 || resp.Header.Get("X-Shadow") != "" {
		t.Errorf("status %d, shadow %q: %s", resp.StatusCode, resp.Header.Get("X-Shadow"), answer)
	}
	w.Stop()
	w.Ended <- <-w.Ended
	if examples, _, _ := recordsOf(t, file); len(examples) != 0 {
		t.Errorf("%+v", examples)
	}
}
