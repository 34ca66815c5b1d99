package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// syntaxCode is what another strict parser says of b: a code of syntax, or "" for JSON that is fine at any depth.
func syntaxCode(b []byte) string {
	valid := func(opts ...jsontext.Options) bool { return jsontext.Value(b).IsValid(opts...) }
	switch {
	case valid():
		return ""
	case valid(jsontext.AllowDuplicateNames(true)):
		return CodeDuplicateKey
	case valid(jsontext.AllowInvalidUTF8(true)):
		return CodeInvalidUTF8
	}
	return CodeInvalidJSON // or several faults at once
}

// depthOf is the nesting of valid JSON, read token by token.
func depthOf(b []byte) int {
	deepest := 0
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		if _, err := d.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, d.StackDepth())
	}
}

// decoded is a body as a map, numbers kept as they are written. Only for what syntaxCode lets pass.
func decoded(t testing.TB, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("the oracle does not decode %q: %v", b, err)
	}
	return v
}

type object = map[string]any

// acceptable judges the meaning of a decoded body slowly: one check per parameter, over the decoded values.
func acceptable(kind Kind, v any, lim Limits) bool {
	body, ok := v.(object)
	if !ok || wrongCase(kind, body, lim) {
		return false
	}
	checks := []bool{
		is[string](body["model"]), is[bool](body["stream"]), is[object](body["stream_options"]),
		within(body["max_tokens"], 1, maxInt), within(body["max_completion_tokens"], 1, maxInt),
		within(body["n"], 1, int64(lim.Choices)),
		ranged(body["temperature"], 0, 2, false), ranged(body["top_p"], 0, 1, false),
		ranged(body["typical_p"], 0, 1, true),
		within(body["seed"], -math.MaxInt64, math.MaxInt64), is[bool](body["use_beam_search"]),
		stopOK(body["stop"], lim.Stops), formatOK(body["response_format"], lim),
		stringsOK(body["repo_snippets"], lim.Messages), stringsOK(body["tool_outputs"], lim.Messages),
		optionsOK(body["stream_options"]),
	}
	checks = append(checks, is[string](body["cache_salt"]))
	for _, name := range []string{"priority", "request_id", "rid", "data_parallel_rank", "routed_dp_rank",
		"disagg_prefill_dp_rank",
		"kv_transfer_params", "bootstrap_host", "bootstrap_port", "bootstrap_room", "lora_path", "vllm_xargs"} {
		checks = append(checks, body[name] == nil)
	}
	if kind == Chat {
		checks = append(checks, chatChecks(body, lim)...)
	} else {
		checks = append(checks, promptOK(body["prompt"], lim.Prompts), is[string](body["suffix"]),
			is[bool](body["echo"]),
			within(body["best_of"], 1, int64(lim.Choices)), within(body["logprobs"], 0, maxInt))
	}
	return !slices.Contains(checks, false) && countsOK(body) && wordsOK(kind, body, lim)
}

func chatChecks(body object, lim Limits) []bool {
	return []bool{
		messagesOK(body["messages"], lim), is[bool](body["logprobs"]), within(body["top_logprobs"], 0, maxInt),
		toolsOK(body["tools"], lim), toolsOK(body["functions"], lim), choiceOK(body["tool_choice"]),
		choiceOK(body["function_call"]),
		body["audio"] == nil, body["web_search_options"] == nil, is[bool](body["store"]),
		modalitiesOK(body["modalities"], lim.Entries), is[bool](body["echo"]),
		within(body["best_of"], 1, int64(lim.Choices)),
	}
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return v == nil || ok
}

func within(v any, lo, hi int64) bool {
	if v == nil {
		return true
	}
	num, _ := v.(json.Number)
	n, err := num.Int64()
	return err == nil && n >= lo && n <= hi
}

func ranged(v any, lo, hi float64, open bool) bool {
	if v == nil {
		return true
	}
	num, _ := v.(json.Number)
	x, err := num.Float64()
	return err == nil && x >= lo && x <= hi && (!open || x > lo)
}

func all(v any, ok func(any) bool) bool {
	list, isList := v.([]any)
	return isList && !slices.ContainsFunc(list, func(e any) bool { return !ok(e) })
}

func isString(v any) bool { return v != nil && is[string](v) }
func isObject(v any) bool { return v != nil && is[object](v) }

func stopOK(v any, most int) bool { return is[string](v) || all(v, isString) && few(v, most) }

func few(v any, most int) bool {
	list, _ := v.([]any)
	return len(list) <= most
}

// clean reports whether an object has no member that reaches no engine.
func clean(v any, lim Limits) bool {
	for name, value := range v.(object) {
		if value != nil && banned(lim, name) {
			return false
		}
	}
	return true
}

func toolsOK(v any, lim Limits) bool {
	return v == nil || all(v, isObject) && few(v, lim.Entries) && all(v, func(e any) bool { return clean(e, lim) })
}

func choiceOK(v any) bool { return is[string](v) || is[object](v) }

func stringsOK(v any, most int) bool {
	list, _ := v.([]any)
	return v == nil || all(v, isString) && len(list) <= most
}

func modalitiesOK(v any, most int) bool {
	return v == nil || all(v, func(e any) bool { return e == "text" }) && few(v, most)
}

func formatOK(v any, lim Limits) bool {
	format, ok := v.(object)
	return v == nil || ok && isString(format["type"]) && clean(v, lim)
}

func optionsOK(v any) bool {
	options, _ := v.(object)
	for name := range options {
		if !slices.Contains([]string{"include_usage", "continuous_usage_stats", "include_obfuscation"}, name) ||
			!is[bool](options[name]) {
			return false
		}
	}
	return true
}

func messagesOK(v any, lim Limits) bool {
	list, _ := v.([]any)
	calls := 0
	for _, m := range list {
		if m, ok := m.(object); ok {
			made, _ := m["tool_calls"].([]any)
			calls += len(made)
		}
	}
	return len(list) > 0 && len(list) <= lim.Messages && calls <= lim.Entries &&
		all(v, func(e any) bool { return messageOK(e, lim) })
}

func messageOK(v any, lim Limits) bool {
	m, ok := v.(object)
	role, named := m["role"].(string)
	if !ok || !named || !slices.Contains(roles[:], role) || !is[string](m["name"]) || !is[string](m["tool_call_id"]) {
		return false
	}
	for name := range m {
		if !isMessageMember([]byte(name)) &&
			(isMessageMember([]byte(fold(name))) || m[name] != nil && banned(lim, name)) {
			return false
		}
	}
	calls := m["tool_calls"] != nil || m["function_call"] != nil
	if !is[[]any](m["tool_calls"]) || !is[object](m["function_call"]) {
		return false
	}
	if m["content"] == nil {
		return role == "assistant" && calls
	}
	parts, _ := m["content"].([]any)
	return isString(m["content"]) || len(parts) > 0 && len(parts) <= lim.Entries &&
		all(m["content"], func(e any) bool { return partOK(e, lim) })
}

func partOK(v any, lim Limits) bool {
	part, _ := v.(object)
	picture := part["type"] == imageMember
	_, worded := part["text"]
	for name := range part {
		if _, is := part[name].(object); is && picture && name == imageMember {
			continue
		}
		if !isPartMember([]byte(name)) && (isPartMember([]byte(fold(name))) || part[name] != nil && banned(lim, name)) {
			return false
		}
	}
	return part["type"] == "text" && isString(part["text"]) || picture && (!worded || isString(part["text"])) &&
		pictureOK(part[imageMember])
}

func pictureOK(v any) bool {
	picture, _ := v.(object)
	url, _ := picture["url"].(string)
	for _, prefix := range []string{"data:image/", "https://"} {
		if len(url) > len(prefix) && strings.HasPrefix(url, prefix) {
			return true
		}
	}
	return false
}

func promptOK(v any, most int) bool {
	list, _ := v.([]any)
	switch {
	case isString(v):
		return true
	case len(list) == 0:
		return false
	case all(v, tokenOK):
		return true
	}
	tokens := func(e any) bool {
		ids, _ := e.([]any)
		return len(ids) > 0 && all(e, tokenOK)
	}
	return len(list) <= most && (all(v, isString) || all(v, tokens))
}

func tokenOK(v any) bool { return v != nil && within(v, 0, maxInt) }

// fold is the case folding of engines that fold: what equals a lower-case ASCII name to them.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		for _, ascii := range "abcdefghijklmnopqrstuvwxyz" {
			if strings.EqualFold(string(r), string(ascii)) {
				return ascii
			}
		}
		return r
	}, name)
}

func knows(kind Kind, lim Limits, name string) *entry {
	return lim.Members.of(kind).find([]byte(name), hashOf([]byte(name)))
}

func wrongCase(kind Kind, body object, lim Limits) bool {
	for name := range body {
		if knows(kind, lim, name) == nil && knows(kind, lim, fold(name)) != nil {
			return true
		}
	}
	return false
}

// asError is the typed error of Parse; a test fails on any other.
func asError(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Parse returned %T (%v), not an *Error", err, err)
	}
	return e
}
