package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"octet/engine"
)

// listener is an engine of any kind that says what it was sent.
type listener struct {
	url   string
	asked atomic.Int64
	body  atomic.Pointer[string]
	head  atomic.Pointer[http.Header]
}

//nolint:lll // raw text that cannot be broken
func hear(t *testing.T) *listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &listener{url: "http://" + l.Addr().String()}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/completions") {
			return
		}
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		e.body.Store(&text)
		e.head.Store(&r.Header)
		e.asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(
			w,
			`{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],`+
				`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return e
}

// kindsWorld is one specialist of each kind of engine, by the kind's name, and one of llama.cpp that passes on the
// unknown.
func kindsWorld(t *testing.T, sets ...string) (*world, map[string]*listener) {
	yaml := "auth: {anonymous: true}\nfleet: {probe_interval: 50ms}\n" +
		"limits: {forward_headers: [x-team, X-Session-Id, Openai-Project]}\nspecialists:\n"
	engines := map[string]*listener{}
	for _, kind := range []string{"vllm", "sglang", "llamacpp", "openai"} {
		engines[kind] = hear(t)
		yaml += fmt.Sprintf("  - {name: %s, tokenizer: none, replicas: [{url: %q, engine: %s}]}\n", kind,
			engines[kind].url, kind)
	}
	engines["open"], engines["strict"] = hear(t), hear(t)
	yaml += fmt.Sprintf(
		"  - {name: open, tokenizer: none, replicas: [{url: %q, engine: llamacpp, pass_unknown: true}]}\n",
		engines["open"].url)
	yaml += fmt.Sprintf(
		"  - {name: strict, tokenizer: none, replicas: [{url: %q, engine: openai, pass_unknown: false}]}\n",
		engines["strict"].url)
	return newWorld(t, yaml, nil, sets...), engines
}

// sampleOf is a value of a member's form.
func sampleOf(m *engine.Member) string {
	switch m.Form {
	case engine.Flag:
		return "true"
	case engine.Whole:
		return fmt.Sprint(int(max(m.Lo, 0)))
	case engine.Real:
		return fmt.Sprint(max(m.Lo, 0))
	case engine.Text:
		return `"a"`
	case engine.Texts:
		return `["a"]`
	case engine.Wholes:
		return fmt.Sprintf("[%d]", int(m.Lo))
	case engine.Weights:
		return `{"1":0.5}`
	case engine.Object:
		return `{"a":1}`
	case engine.Objects:
		return `[{"a":"b"}]`
	default: // engine.Any: by its name
	}
	switch m.Name {
	case "use_beam_search":
		return "true"
	case "prompt_logprobs", "typical_p":
		return "1"
	}
	return `"a"`
}

// wrongFor are values that are of no member's form, or out of its range.
func wrongFor(m *engine.Member) []string {
	switch m.Form {
	case engine.Flag:
		return []string{`1`, `"true"`}
	case engine.Whole:
		return []string{`1.5`, `"1"`, fmt.Sprint(int64(m.Lo) - 1), `99999999999`}
	case engine.Real:
		return []string{`"1"`, `1e300`, `-1e300`}
	case engine.Text:
		return []string{`1`, `"` + strings.Repeat("a", 2<<20) + `"`}
	case engine.Texts:
		return []string{`1`, `["a",1]`, `["a"` + strings.Repeat(`,"a"`, 4096) + `]`}
	case engine.Wholes:
		return []string{`1`, `[1.5]`, `[-5]`, `[1` + strings.Repeat(`,1`, 4096) + `]`}
	case engine.Weights:
		return []string{`1`, `{"1":"x"}`, `{"1":1e300}`}
	case engine.Object:
		return []string{`1`, `[]`}
	case engine.Objects:
		return []string{`{}`, `["a"]`, `[{}` + strings.Repeat(`,{}`, 4096) + `]`}
	default:
		return nil
	}
}

// Every member of the table reaches the kinds of engines that take it, and no other: each × each, as clients send
// them.
func TestAMemberReachesTheKindsOfEngineThatTakeIt(t *testing.T) {
	w, engines := kindsWorld(t)
	kinds := map[string]engine.Kinds{
		"vllm": engine.VLLM, "sglang": engine.SGLang, "llamacpp": engine.LlamaCpp, "strict": engine.OpenAI,
		"openai": engine.Every, "open": engine.Every,
	}
	ask := func(specialist, member, value string) (status int, e errorBody) {
		body := fmt.Sprintf(`{"model":%q,"max_tokens":4,%q:%s,"messages":[{"role":"user","content":"x"}]}`, specialist,
			member, value)
		resp, answer := w.Post("/v1/chat/completions", body)
		_ = json.Unmarshal(answer, &e)
		return resp.StatusCode, e
	}
	pairs := 0
	for i := range engine.Members {
		m := &engine.Members[i]
		for name, kind := range kinds {
			pairs++
			before := engines[name].asked.Load()
			status, e := ask(name, m.Name, sampleOf(m))
			switch reached := engines[name].asked.Load() > before; {
			case m.By&kind != 0: // the last two pass on what they do not know
				said := fmt.Sprintf("%q:%s", m.Name, sampleOf(m))
				if m.Name == "cache_salt" {
					said = "" // engines are sent one of the gateway's making
				}
				if status != 200 || !reached || !strings.Contains(*engines[name].body.Load(), said) {
					t.Errorf("%s at %s: status %d, reached: %t (%+v)", m.Name, name, status, reached, e.Error)
				}
			case status != 400 || reached || e.Error.Code != "unsupported_parameter" || e.Error.Param == nil ||
				*e.Error.Param != m.Name:
				t.Errorf("%s at %s: status %d, reached: %t, %+v", m.Name, name, status, reached, e.Error)
			}
		}
		for _, value := range wrongFor(m) {
			before := engines["openai"].asked.Load()
			if status, e := ask("openai", m.Name, value); m.By != 0 &&
				(status != 400 || e.Error.Code != "invalid_value" || engines["openai"].asked.Load() > before) {
				t.Errorf("%s: %.40s: status %d, %+v", m.Name, value, status, e.Error)
			}
		}
	}
	if pairs < 700 {
		t.Errorf("only %d pairs", pairs)
	}
}

// MEGA-01: the policy typical is llama.cpp's alone, and no note at engines that would sample otherwise.
func TestThePolicyTypicalReachesEnginesThatHaveIt(t *testing.T) {
	w, engines := kindsWorld(t)
	for specialist, want := range map[string]int{"vllm": 400, "sglang": 400, "strict": 400, "llamacpp": 200,
		"openai": 200, "open": 200} {
		for value, want := range map[string]int{"0.9": want, "null": 200} {
			before := engines[specialist].asked.Load()
			resp, answer := w.Post("/v1/chat/completions",
				`{"model":"`+specialist+`","typical_p":`+value+`,"messages":[{"role":"user","content":"x"}]}`)
			reached := engines[specialist].asked.Load() > before
			if resp.StatusCode != want || reached != (want == 200) || want == 400 &&
				(codeOf(t, answer) != "unsupported_parameter" ||
					!strings.Contains(string(answer), `"param":"typical_p"`)) {
				t.Errorf("%s at %s: status %d, reached: %t: %s", value, specialist, resp.StatusCode, reached, answer)
			}
		}
	}
}

func TestAnUnknownMemberReachesReplicasThatPassItOn(t *testing.T) {
	w, engines := kindsWorld(t)
	for specialist, want := range map[string]int{"vllm": 400, "sglang": 400, "llamacpp": 400, "strict": 400,
		"openai": 200, "open": 200} {
		for member, refused := range map[string]bool{
			`"my_extension":{"a":[1]}`: false, `"response_format":{"type":"text","my_extension":1}`: false,
			`"litellm_params":{}`: true, `"aws_region":"x"`: true, `"stream_options":{"my_extension":1}`: true,
			`"tools":[{"type":"mcp","server_url":"http://x"}]`:   true,
			`"chat_template_kwargs":{"chat_template":"{{ x }}"}`: true,
			`"response_format":{"type":"text","api_base":"x"}`:   true,
		} {
			expected := want
			if refused {
				expected = 400
			}
			before := engines[specialist].asked.Load()
			resp, answer := w.Post("/v1/chat/completions",
				`{"model":"`+specialist+`",`+member+`,"messages":[{"role":"user","content":"x"}]}`)
			if reached := engines[specialist].asked.Load() > before; resp.StatusCode != expected ||
				reached != (expected == 200) {
				t.Errorf("%s at %s: status %d, reached: %t: %s", member, specialist, resp.StatusCode, reached, answer)
			}
			if expected == 400 && (codeOf(t, answer) != "unsupported_parameter" ||
				!strings.Contains(string(answer), `"param":"`)) {
				t.Errorf("%s at %s: %s", member, specialist, answer)
			}
		}
	}
}

// Of replicas of several kinds a request goes to those that take all of it, at the first attempt and after a failure.
//
//nolint:lll // raw text that cannot be broken
func TestARequestGoesToTheReplicasThatTakeIt(t *testing.T) {
	vllm, llama := hear(t), hear(t)
	yaml :=
		`{auth: {anonymous: true}, specialists: [{name: mixed, tokenizer: none, replicas: [{url: %q, engine: vllm}, {url: %q, engine: llamacpp}]}]}`
	w := newWorld(t, fmt.Sprintf(yaml, vllm.url, llama.url), nil)
	for range 10 {
		for member, want := range map[string]*listener{`"dry_base":2`: llama, `"bad_words":["x"]`: vllm,
			`"typical_p":0.9`: llama} {
			before := want.asked.Load()
			resp, answer := w.Post("/v1/chat/completions",
				`{"model":"mixed",`+member+`,"messages":[{"role":"user","content":"x"}]}`)
			if resp.StatusCode != 200 || want.asked.Load() != before+1 {
				t.Fatalf("%s: status %d: %s", member, resp.StatusCode, answer)
			}
		}
	}
	resp, answer := w.Post("/v1/chat/completions",
		`{"model":"mixed","dry_base":2,"bad_words":["x"],"messages":[{"role":"user","content":"x"}]}`)
	if resp.StatusCode != 400 || codeOf(t, answer) != "unsupported_parameter" {
		t.Errorf("members that no one kind takes: status %d: %s", resp.StatusCode, answer)
	}
	asked := vllm.asked.Load()
	// The replica that takes it is away: no other is tried.
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep != nil && rep.Kind.Name == "llamacpp" {
			rep.Fleet.SetDraining(true)
		}
	}
	resp, answer = w.Post("/v1/chat/completions",
		`{"model":"mixed","dry_base":2,"messages":[{"role":"user","content":"x"}]}`)
	if resp.StatusCode != 503 || vllm.asked.Load() != asked {
		t.Errorf("without the replica that takes it: status %d, the other was asked: %t: %s", resp.StatusCode,
			vllm.asked.Load() != asked, answer)
	}
}

// Every list and string of a body has a bound, and each bound a key.
//
//nolint:lll // raw text that cannot be broken
func TestCountsAndSizesOfParametersAreBounded(t *testing.T) {
	w, engines := kindsWorld(t, "limits.stop_strings=2", "limits.list_entries=2", "limits.parameter_bytes=64",
		"limits.choices=3", "limits.prompts=2", "limits.messages=2")
	message := `"messages":[{"role":"user","content":"x"}]`
	long := `"` + strings.Repeat("a", 80) + `"`
	for body, param := range map[string]string{
		`"stop":["a","b"],` + message: "", `"stop":["a","b","c"],` + message: "stop",
		`"stop":` + long + `,` + message: "stop",
		`"tools":[{},{},{}],` + message:  "tools", `"stop_token_ids":[1,2,3],` + message: "stop_token_ids",
		`"logit_bias":{"1":1,"2":1,"3":1},` + message: "logit_bias",
		`"metadata":{"a":1,"b":1,"c":1},` + message:   "metadata",
		`"documents":[{},{},{}],` + message:           "documents",
		`"guided_json":` + long + `,` + message:       "guided_json",
		`"user":` + long + `,` + message:              "user",
		`"grammar":` + long + `,` + message:           "grammar", `"n":4,` + message: "n",
		`"best_of":4,` + message: "best_of",
		`"messages":[{"role":"user","content":"x"},{"role":"user","content":"x"},{"role":"user","content":"x"}]`:                    "messages",
		`"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"a"},{"type":"text","text":"a"}]}]`: "messages[0].content",
		`"prompt":["a","b","c"]`: "prompt", `"prompt":[[1],[2],[3]]`: "prompt", `"prompt":[1,2,3,4]`: "",
		`"ignore_eos":true,` + message:             "ignore_eos",
		`"min_tokens":9,"max_tokens":3,` + message: "min_tokens",
	} {
		path := "/v1/chat/completions"
		if strings.HasPrefix(body, `"prompt"`) {
			path = "/v1/completions"
		}
		before := engines["openai"].asked.Load()
		resp, answer := w.Post(path, `{"model":"openai",`+body+`}`)
		var e errorBody
		_ = json.Unmarshal(answer, &e)
		if param == "" && resp.StatusCode != 200 || param != "" &&
			(resp.StatusCode != 400 || e.Error.Code != "invalid_value" || e.Error.Param == nil ||
				*e.Error.Param != param) {
			t.Errorf("%.60s: status %d, want a fault at %q: %s", body, resp.StatusCode, param, answer)
		}
		if reached := engines["openai"].asked.Load() > before; reached != (param == "") {
			t.Errorf("%.60s reached the engine: %t", body, reached)
		}
	}
}

// Engines differ in which of the two counts they obey, so both say what is counted here.
func TestBothNamesOfTheMostTokensSayOneNumber(t *testing.T) {
	w, engines := kindsWorld(t)
	for name, e := range engines {
		body := `{"model":%q,"max_tokens":%d,"max_completion_tokens":7,"messages":[{"role":"user","content":"x"}]}`
		for _, most := range []int{3, 7, 4000} {
			resp, answer := w.Post("/v1/chat/completions", fmt.Sprintf(body, name, most))
			var sent struct {
				MaxTokens           int `json:"max_tokens"`
				MaxCompletionTokens int `json:"max_completion_tokens"`
			}
			err := json.Unmarshal([]byte(*e.body.Load()), &sent)
			if resp.StatusCode != 200 || err != nil || sent.MaxTokens != 7 || sent.MaxCompletionTokens != 7 {
				t.Errorf("%s, max_tokens %d: status %d, sent %+v: %s", name, most, resp.StatusCode, sent, answer)
			}
		}
	}
}
