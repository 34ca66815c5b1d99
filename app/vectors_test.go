package app_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"octet/internal/vectors"
)

// The shapes of OpenAI's specification, as clients see them: over sockets, from an engine through the whole gateway.
func TestAnswersPlayOpenAIsCases(t *testing.T) {
	vectors.Run(t, "openai_schema.json", vectors.Plays{
		"chat_completion_required_fields": playCompletion,
		"chat_chunk_required_fields":      playChunks,
		"stream_usage_chunk":              playUsageChunk,
		"usage_arithmetic":                playUsageSums,
		"error_envelope":                  playErrors,
		"models_list":                     playModels,
	})
}

type object = map[string]any

func objectOf(t *testing.T, text []byte) (o object) {
	t.Helper()
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return o
}

// members returns the members that all of objects have.
func members(objects ...object) (names vectors.Has) {
	for name := range objects[0] {
		missing := slices.ContainsFunc(objects, func(o object) bool {
			_, there := o[name]
			return !there
		})
		if !missing {
			names = append(names, name)
		}
	}
	return names
}

// each returns the objects of a list.
func each(list any) (objects []object) {
	for _, one := range list.([]any) {
		objects = append(objects, one.(object))
	}
	return objects
}

// alike returns the value of a member that all of objects have alike; nil if they differ.
func alike(name string, objects ...object) any {
	for _, o := range objects {
		if o[name] != objects[0][name] {
			return nil
		}
	}
	return objects[0][name]
}

// chunks streams a chat and returns its chunks.
func chunks(t *testing.T, w *world, body string) (all []object) {
	t.Helper()
	resp := w.Ask(t.Context(), "/v1/chat/completions", streamed(body))
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		switch text, is := strings.CutPrefix(lines.Text(), "data: "); {
		case text == "[DONE]":
			return all
		case is:
			all = append(all, objectOf(t, []byte(text)))
		}
	}
	t.Fatalf("a stream without an end: %v", lines.Err())
	return nil
}

func playCompletion(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Stream bool }
	c.Given(&given)
	w := newWorld(t, smallWorld, smallEngines())
	resp, text := w.Post("/v1/chat/completions", hello)
	if resp.StatusCode != 200 || given.Stream {
		t.Fatalf("status %d, streamed %t: %s", resp.StatusCode, given.Stream, text)
	}
	answer := objectOf(t, text)
	choices := each(answer["choices"])
	var messages []object
	for _, choice := range choices {
		messages = append(messages, choice["message"].(object))
	}
	return vectors.Got{
		"required": members(answer), "object": answer["object"], "choice_required": members(choices...),
		"message_required": members(messages...), "finish_reason_enum": relayed(t),
	}
}

// relayed returns the finish reasons that come through from an engine.
func relayed(t *testing.T) (reasons []string) {
	finish := ""
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/chat/completions" {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":"ok"},"finish_reason":"`+finish+`"}],`+
			`"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	t.Cleanup(engine.Close)
	w := newWorld(t, "auth: {anonymous: true}\nspecialists: [{name: debug, tokenizer: none, replicas: [{url: '"+
		engine.URL+"', blocks: 4096}]}]\n", nil)
	for _, finish = range []string{"stop", "length", "tool_calls", "content_filter", "function_call"} {
		_, text := w.Post("/v1/chat/completions", hello)
		for _, choice := range each(objectOf(t, text)["choices"]) {
			reasons = append(reasons, choice["finish_reason"].(string))
		}
	}
	return reasons
}

func playChunks(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct{ Stream bool }
	c.Given(&given)
	all := chunks(t, newWorld(t, smallWorld, smallEngines()), hello)
	var choices []object
	for _, chunk := range all {
		choices = append(choices, each(chunk["choices"])...)
	}
	last := len(choices) - 1
	early := slices.ContainsFunc(choices[:last], func(o object) bool { return o["finish_reason"] != nil })
	return vectors.Got{
		"required": members(all...), "object": alike("object", all...), "choice_required": members(choices...),
		"finish_reason": vectors.Rule(given.Stream && last > 1 && !early && choices[last]["finish_reason"] != nil),
	}
}

func playUsageChunk(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Stream  bool
		Options json.RawMessage `json:"stream_options"`
	}
	c.Given(&given)
	c.Prose("interrupted_stream") // it allows either
	body := strings.Replace(hello, "{", `{"stream_options":`+string(given.Options)+`,`, 1)
	all := chunks(t, newWorld(t, smallWorld, smallEngines()), body)
	last, others := all[len(all)-1], all[:len(all)-1]
	if !slices.Contains(members(others...), "usage") {
		t.Errorf("of the other chunks some have no usage: %v", others)
	}
	_, is := last["usage"].(object)
	return vectors.Got{"choices": last["choices"], "usage_present": is, "other_chunks_usage": alike("usage", others...)}
}

func playUsageSums(t *testing.T, c *vectors.Case) vectors.Got {
	c.Given(&struct{}{})
	w := newWorld(t, smallWorld, smallEngines())
	var usages []object
	long := strings.Replace(hello, "why does it crash", strings.Repeat("why does it crash ", 40), 1)
	for _, body := range []string{hello, long, long} { // the second time from the cache
		_, text := w.Post("/v1/chat/completions", body)
		usages = append(usages, objectOf(t, text)["usage"].(object))
		all := chunks(t, w, strings.Replace(body, "{", `{"stream_options":{"include_usage":true},`, 1))
		usages = append(usages, all[len(all)-1]["usage"].(object))
	}
	sums, within, cached := true, true, 0.0
	for _, u := range usages {
		prompt := u["prompt_tokens"].(float64)
		sums = sums && u["total_tokens"] == prompt+u["completion_tokens"].(float64)
		if details, ok := u["prompt_tokens_details"].(object); ok {
			cached = max(cached, details["cached_tokens"].(float64))
			within = within && details["cached_tokens"].(float64) <= prompt
		}
	}
	if cached == 0 {
		t.Errorf("nothing was cached: %v", usages)
	}
	return vectors.Got{"required": members(usages...), "total": vectors.Rule(sums), "cached": vectors.Rule(within)}
}

// Errors of every kind that a client makes, and of an engine and a fleet that fail.
func playErrors(t *testing.T, c *vectors.Case) vectors.Got {
	var given struct {
		Bad bool `json:"bad_request"`
	}
	c.Given(&given)
	w := newWorld(t, smallWorld, smallEngines())
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	down := newWorld(t, "auth: {anonymous: true}\nlimits: {max_attempts: 1}\n"+
		"specialists: [{name: debug, tokenizer: none, replicas: [{url: '"+closed.URL+"', blocks: 4096}]}]\n", nil)
	var bodies, errs []object
	statuses := map[int]bool{}
	for _, bad := range []struct {
		*world
		path, body string
	}{
		{w, "/v1/chat/completions", `{`},
		{w, "/v1/chat/completions", `{"model":"debug","messages":[]}`},
		{w, "/v1/chat/completions", `{"model":"debug","max_tokens":-1,"messages":[{"role":"user","content":"x"}]}`},
		{w, "/v1/chat/completions", `{"model":"unknown","messages":[{"role":"user","content":"x"}]}`},
		{w, "/v1/chat/completions", strings.Replace(hello, "12", "100000", 1)},
		{w, "/v1/unknown", hello},
		{down, "/v1/chat/completions", hello},
		{down, "/v1/chat/completions", streamed(hello)},
	} {
		resp, text := bad.Post(bad.path, bad.body)
		if resp.StatusCode < 400 {
			t.Fatalf("%s of %s: status %d", bad.path, bad.body, resp.StatusCode)
		}
		statuses[resp.StatusCode/100] = true
		bodies = append(bodies, objectOf(t, text))
		errs = append(errs, bodies[len(bodies)-1]["error"].(object))
	}
	if len(statuses) != 2 {
		t.Errorf("only of kinds %v", slices.Collect(maps.Keys(statuses)))
	}
	typed := !slices.ContainsFunc(errs, func(e object) bool {
		return !textOrNull(e["param"]) || !textOrNull(e["code"]) || e["message"] == "" || e["type"] == ""
	})
	return vectors.Got{"required": members(bodies...), "error_required": members(errs...),
		"param_and_code": vectors.Rule(typed && given.Bad)}
}

func textOrNull(v any) bool {
	_, text := v.(string)
	return text || v == nil
}

func playModels(t *testing.T, c *vectors.Case) vectors.Got {
	c.Given(&struct{}{})
	w := newWorld(t, smallWorld, smallEngines())
	var list object
	w.Get(w.Data+"/v1/models", &list)
	models := each(list["data"])
	return vectors.Got{"object": list["object"], "data_item_required": members(models...),
		"item_object": alike("object", models...)}
}
