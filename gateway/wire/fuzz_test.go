package wire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// seeds are bodies of every kind: right ones, and one for each way to be wrong.
//
//nolint:lll // raw text that cannot be broken
var seeds = []string{
	`{"messages":[{"role":"user","content":"hi"}]}`,
	`{"model":"octet","messages":[{"role":"system","content":"a"},{"role":"user","content":"b"}],"stream":true}`,
	` { "model" : null , "messages" : [ { "role" : "user" , "content" : [ { "type" : "text" , "text" : "x" } , {"text":"y","type":"text"} ] } ] } `,
	`{"messages":[{"role":"assistant","content":null,"tool_calls":[{}]},{"role":"tool","tool_call_id":"1","content":"r"}]}`,
	`{"messages":[{"role":"assistant","function_call":{"name":"f"}},{"role":"function","name":"f","content":"r"}]}`,
	`{"messages":[{"role":"user","content":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}]}`,
	`{"messages":[{"role":"user","content":"héllo ✓ 😀"}]}`,
	`{"messages":[{"role":"user","content":"\ud800"}]}`,
	`{"messages":[{"role":"user","content":"\udc00\ud800"}]}`,
	`{"messages":[{"role":"user","content":"\ufffd"}]}`,
	"{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
	"{\"messages\":[{\"role\":\"user\",\"content\":\"\xed\xa0\x80\"}]}",
	"{\"mess\xc0ages\":[]}",
	"{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}",
	"\ufeff" + `{"messages":[{"role":"user","content":"bom"}]}`,
	`{"messages":[{"role":"user","content":"x"}]}{}`,
	`{"messages":[{"role":"user","content":"x"}],}`,
	`{"messages":[{"role":"user","content":"x"},]}`,
	`{"model":"a","model":"b","messages":[{"role":"user","content":"x"}]}`,
	`{"model":"a","mod\u0065l":"b","messages":[{"role":"user","content":"x"}]}`,
	`{"messages":[{"role":"user","role":"user","content":"x"}]}`,
	`{"x":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"a":12}}`,
	`{"x":{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":{"a":1},"j":[{"a":1}],"k":11}}`,
	`{"Model":"a","messages":[{"role":"user","content":"x"}]}`,
	`{"ſtream":true,"messages":[{"role":"user","content":"x"}]}`,
	`{"max_to\u212Aens":1,"messages":[{"role":"user","content":"x"}]}`,
	`{"messages":[{"Role":"user","role":"user","content":"x"}]}`,
	`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}]}`,
	`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https:\/\/h\/x","detail":"low"}}]}]}`,
	`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"image_url":{"url":"data:image/png;base64,eA=="},"type":"image_url"}]}]}`,
	`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://h"},"api_base":"x"}]}]}`,
	`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://h","url":"https://i"}}]}]}`,
	`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"https://h"}]}],"repo_snippets":["s"]}`,
	`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://h"}}]}],"repo_snippets":["s"]}`,
	`{"messages":[{"role":"user","content":[{"type":"text"}]}]}`,
	`{"messages":[{"role":"user","content":[]}]}`,
	`{"messages":[{"role":"wizard","content":"x"}]}`,
	`{"messages":[{"role":"user","content":"x","role":"user"}]}`,
	`{"messages":[{"role":"user","content":"x","content":"y"}]}`,
	`{"messages":[{"role":"assistant","tool_calls":[{},{},{"function":{"name":"f","arguments":"{}"}}]}]}`,
	`{"messages":[{"role":"assistant","tool_calls":[{},{}]},{"role":"assistant","tool_calls":[{},{}]}]}`,
	`{"messages":[{"role": "system", "content": "x", "name": "n"}, {"role": "assistant", "content": "y", "tool_calls": []}]}`,
	`{"messages":[{"role":"tool","content":"x\n","tool_call_id":"i"},{"role":"developer","content":""},{"role":"function","content":"f"}]}`,
	`{"messages":[{"role":"user","content":"x`, `{"messages":[{"role":"user","content":"x","cont`,
	`{"messages":[{"role":"user","content":"`,
	`{"messages":[{"content":"x"}]}`, `{"messages":[{"role":"user"}]}`, `{"messages":[]}`, `{"messages":[7]}`,
	`{"messages":{}}`, `{}`, `[]`, `null`, ``, `"x"`,
	`{"messages":[{"role":"user","content":"x"}],"n":0}`,
	`{"messages":[{"role":"user","content":"x"}],"n":1.0}`,
	`{"messages":[{"role":"user","content":"x"}],"n":128,"max_tokens":5,"max_completion_tokens":6,"seed":-3}`,
	`{"messages":[{"role":"user","content":"x"}],"temperature":0,"top_p":1,"typical_p":0.5}`,
	`{"messages":[{"role":"user","content":"x"}],"temperature":2.1}`,
	`{"messages":[{"role":"user","content":"x"}],"temperature":1e400}`,
	`{"messages":[{"role":"user","content":"x"}],"top_p":0}`,
	`{"messages":[{"role":"user","content":"x"}],"max_tokens":99999999999999999999}`,
	`{"messages":[{"role":"user","content":"x"}],"max_tokens":01}`,
	`{"messages":[{"role":"user","content":"x"}],"temperature":NaN}`,
	`{"messages":[{"role":"user","content":"x"}],"temperature":-0.0}`,
	`{"messages":[{"role":"user","content":"x"}],"stop":["a","b"],"logprobs":true,"top_logprobs":3}`,
	`{"messages":[{"role":"user","content":"x"}],"stop":["a",1]}`,
	`{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}],"tool_choice":"auto"}`,
	`{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}}`,
	`{"messages":[{"role":"user","content":"x"}],"response_format":{"type":"text"},"tool_choice":"none"}`,
	`{"messages":[{"role":"user","content":"x"}],"modalities":["text","audio"]}`,
	`{"messages":[{"role":"user","content":"x"}],"store":true}`,
	`{"messages":[{"role":"user","content":"x"}],"audio":{}}`,
	`{"messages":[{"role":"user","content":"x"}],"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`,
	`{"messages":[{"role":"user","content":"x"}],"repo_snippets":["a\n","b"],"tool_outputs":["c"]}`,
	`{"prompt":"x"}`, `{"prompt":["a","b\t"]}`, `{"prompt":[1,2,3]}`, `{"prompt":[[1],[2,3]]}`, `{"prompt":[1,"a"]}`,
	`{"prompt":[[1],[]]}`,
	`{"prompt":[-1]}`, `{"prompt":[2147483648]}`, `{"prompt":"x","suffix":"y"}`,
	`{"prompt":"x","echo":true,"best_of":2,"logprobs":0}`,
	`{"prompt":[1,[2]]}`, `{"prompt":[]}`, `{"prompt":7}`, `{"prompt":[true]}`,
	`{"x":[[[[[[[[[[]]]]]]]]]],"prompt":""}`,
	`{"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `,"prompt":""}`,
	`{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `,"prompt":""}`,
}

// fuzzLimits are narrow ones, with a vocabulary.
var fuzzLimits = Limits{Depth: 16, Messages: 3, Prompts: 4, Choices: 128, Entries: 3, Stops: 2, Bytes: 200,
	Members: testWords}

var fullLimits = Limits{}.orDefaults()

func FuzzParse(f *testing.F) {
	for _, s := range append(append(seeds, wordBodies()...), oneToolBody) {
		f.Add(s, false)
		f.Add(s, true)
	}
	var r Request
	lim := fuzzLimits
	f.Fuzz(func(t *testing.T, body string, completion bool) {
		kind := Chat
		if completion {
			kind = Completion
		}
		for range 3 { // tools are known by then
			checkAgainstOracle(t, kind, []byte(body), lim, &r)
		}
	})
}

func TestBodiesOfEveryKindAreReadAlikeByEveryMeans(t *testing.T) {
	var r Request
	byEveryMeans(t, func(t *testing.T) {
		for _, body := range seeds {
			checkAgainstOracle(t, Chat, []byte(body), fuzzLimits, &r)
			checkAgainstOracle(t, Completion, []byte(body), fuzzLimits, &r)
		}
		for kind, body := range kinds(2000) {
			checkAgainstOracle(t, Chat, body, fullLimits, &r)
			if err := Parse(Chat, body, Limits{}, &r); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			for cut := range len(body) { // every one that breaks off is refused
				if err := Parse(Chat, body[:cut:cut], Limits{}, &r); err == nil {
					t.Fatalf("%s up to %d is accepted", kind, cut)
				}
			}
		}
	})
}

// A body with one byte changed, wherever that is, is read as by the oracle.
func TestAChangedByteIsJudgedLikeTheOracleByEveryMeans(t *testing.T) {
	var r Request
	rng := rand.New(rand.NewPCG(11, 12))
	byEveryMeans(t, func(t *testing.T) {
		for _, body := range kinds(700) {
			for range 300 {
				changed := bytes.Clone(body)
				changed[rng.IntN(len(changed))] = "\"\\\\{}[]:,u0d\x00\n \x80\xc3\xff"[rng.IntN(18)]
				checkAgainstOracle(t, Chat, changed, fullLimits, &r)
			}
		}
	})
}

// checkAgainstOracle holds Parse to two slow parsers: syntax, meaning and every value read.
func checkAgainstOracle(t *testing.T, kind Kind, body []byte, lim Limits, r *Request) {
	t.Helper()
	err := Parse(kind, body, lim, r)
	if want := syntaxCode(body); want != "" {
		got := "accepted"
		if err != nil {
			got = asError(t, err).Code
		}
		if got != want && (want != CodeInvalidJSON || !isSyntax(got)) && got != CodeTooDeep {
			t.Fatalf("%q: got %s, the strict parser says %s", body, got, want)
		}
		return
	}
	if deep := depthOf(body) > lim.Depth; deep || err != nil && asError(t, err).Code == CodeTooDeep {
		if !deep || err == nil || asError(t, err).Code != CodeTooDeep {
			t.Fatalf("%q: depth %d under a limit of %d gave %v", body, depthOf(body), lim.Depth, err)
		}
		return
	}
	if err != nil && isSyntax(asError(t, err).Code) {
		t.Fatalf("%q: %v, but the strict parser takes it", body, err)
	}
	v := decoded(t, body)
	if want := acceptable(kind, v, lim) && sizesOK(body, lim); want != (err == nil) {
		t.Fatalf("%q: got %v, the oracle accepts: %v", body, err, want)
	}
	if err == nil {
		checkValues(t, v.(object), r)
		checkTakers(t, v.(object), lim, r)
	}
}

func isSyntax(code string) bool {
	return slices.Contains([]string{CodeInvalidJSON, CodeDuplicateKey, CodeInvalidUTF8, CodeTooDeep}, code)
}

func checkValues(t *testing.T, body object, r *Request) {
	t.Helper()
	model, _ := body["model"].(string)
	stream, _ := body["stream"].(bool)
	if r.Model != model || r.Stream != stream {
		t.Fatalf("model %q stream %v, the oracle reads %q %v", r.Model, r.Stream, model, stream)
	}
	if x, ok := body["temperature"].(json.Number); ok != r.Temperature.Set {
		t.Fatalf("temperature %+v, the oracle reads %v", r.Temperature, x)
	}
	for i, name := range []string{"max_completion_tokens", "max_tokens"} {
		if num, ok := body[name].(json.Number); ok {
			if n, _ := num.Int64(); int(n) != r.MaxTokens {
				t.Fatalf("MaxTokens %d, the oracle reads %d", r.MaxTokens, n)
			}
			break
		}
		if i == 1 && r.MaxTokens != -1 {
			t.Fatalf("MaxTokens %d, but none is given", r.MaxTokens)
		}
	}
	var texts []string // appended while nothing is unescaped yet
	for i := range r.Messages() {
		texts = append(texts, r.Role(i)+": "+string(r.AppendText(nil, i)))
	}
	want := slowTurns(r.Kind, body)
	if r.Kind == Chat && !slices.Equal(texts, want[:len(texts)]) {
		t.Fatalf("texts %q, the oracle reads %q", texts, want)
	}
	messages := len(want) - len(r.extras.snippets) - len(r.extras.outputs)
	if got, want := wordingOf(r), slowPrompt(r, body, want, messages); got != want && r.Images() == 0 {
		t.Fatalf("worded %q, want %q", got, want)
	}
	if diff := cmp.Diff(want, readTurns(r)); diff != "" {
		t.Fatalf("turns differ (-oracle +read):\n%s", diff)
	}
	if diff := cmp.Diff(slowTokens(body["prompt"]), readTokens(r)); r.Kind == Completion && diff != "" {
		t.Fatalf("token prompts differ (-oracle +read):\n%s", diff)
	}
}

func readTurns(r *Request) (turns []string) {
	for _, turn := range r.Turns(nil) {
		turns = append(turns, turn.Role+": "+string(turn.Text))
	}
	return turns
}

func slowTurns(kind Kind, body object) (turns []string) {
	if kind == Completion {
		list, ok := body["prompt"].([]any)
		if !ok {
			list = []any{body["prompt"]}
		}
		for _, e := range list {
			if s, ok := e.(string); ok {
				turns = append(turns, "user: "+s)
			}
		}
	} else {
		for _, m := range body["messages"].([]any) {
			turns = append(turns, m.(object)["role"].(string)+": "+slowContent(m.(object)["content"]))
		}
	}
	for _, extra := range [][2]string{{"repo_snippets", RoleSnippet}, {"tool_outputs", RoleOutput}} {
		list, _ := body[extra[0]].([]any)
		for _, e := range list {
			if e != "" {
				turns = append(turns, extra[1]+": "+e.(string))
			}
		}
	}
	return turns
}

func slowContent(v any) string {
	parts, ok := v.([]any)
	if !ok {
		s, _ := v.(string)
		return s
	}
	var texts []string
	for _, part := range parts {
		if part := part.(object); part["type"] == "text" {
			texts = append(texts, part["text"].(string))
		}
	}
	return strings.Join(texts, "\n")
}

func readTokens(r *Request) (prompts [][]uint32) {
	for i := range r.Prompts() {
		if ids, ok := r.PromptTokens(i, nil); ok {
			prompts = append(prompts, ids)
		}
	}
	return prompts
}

func slowTokens(v any) (prompts [][]uint32) {
	list, _ := v.([]any)
	var flat []uint32
	for _, e := range list {
		switch e := e.(type) {
		case json.Number:
			n, _ := e.Int64()
			flat = append(flat, uint32(n))
		case []any:
			prompts = append(prompts, slowTokens(e)...)
		}
	}
	if flat != nil {
		prompts = append(prompts, flat)
	}
	return prompts
}

func FuzzSplice(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "model", `"debug"`, "priority", `-3`)
		f.Add(s, "messages", `[{"role":"user","content":"y"}]`, "stream_options", `{"include_usage":true}`)
	}
	f.Fuzz(func(t *testing.T, body, key1, raw1, key2, raw2 string) {
		var r Request
		kind := Chat
		if Parse(kind, []byte(body), Limits{}, &r) != nil {
			if kind = Completion; Parse(kind, []byte(body), Limits{}, &r) != nil {
				return
			}
		}
		edits := []Edit{{key1, []byte(raw1)}, {key2, []byte(raw2)}}
		segments, err := r.Splice(edits, nil)
		if bad := key1 == key2 || !utf8.ValidString(key1+" "+key2) || syntaxCode([]byte(raw1)) != "" ||
			syntaxCode([]byte(raw2)) != ""; bad {
			if err == nil {
				t.Fatalf("edits %q were taken", edits)
			}
			return
		}
		if deepest := max(depthOf([]byte(raw1)), depthOf([]byte(raw2))); err != nil {
			if deepest <= maxEditDepth {
				t.Fatalf("edits %q were refused: %v", edits, err)
			}
			return
		}
		checkSplice(t, []byte(body), bytes.Join(segments, nil), edits)
	})
}

// checkSplice holds a spliced body to decode, edit, compare.
func checkSplice(t *testing.T, body, got []byte, edits []Edit) {
	t.Helper()
	var want, have map[string]json.RawMessage
	if err := json.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	for _, e := range edits {
		want[e.Key] = bytes.TrimSpace(e.Raw)
	}
	if code := syntaxCode(got); code != "" {
		t.Fatalf("spliced body %q: %s", got, code)
	}
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Fatalf("splice of %q differs (-oracle +spliced):\n%s", body, diff)
	}
}
