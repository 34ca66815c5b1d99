package sse

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"octet/gateway/wire"
)

// verdict is everything that a stream leaves behind, however it was cut.
type verdict struct {
	Out      string
	Tokens   int
	Reasoned bool
	Usage    Usage
	HasUsage bool
	Finish   string
	Text     string
	Done     bool
	Err      string // garbage, large, engine: message/type/code
}

// fed is the verdict of the scanner on pieces.
func fed(s *Scanner, most int, pieces ...[]byte) verdict {
	var v verdict
	var raw []byte
	s.Reset(Options{MaxEvent: most, Text: func(p []byte) { raw = append(raw, p...) }})
	for _, p := range pieces {
		out, err := s.Feed(p)
		v.Out += string(out[0]) + string(out[1])
		v.Err = valid(errorName(err))
	}
	v.Tokens, v.Reasoned, v.Finish, v.Done = s.Tokens(), s.Reasoned(), valid(s.FinishReason()), s.Done()
	v.Usage, v.HasUsage = s.Usage()
	v.Text = valid(string(wire.AppendUnquoted(nil, raw)))
	return v
}

// valid is s with U+FFFD for every byte that is not UTF-8, as the oracle's decoder has it.
func valid(s string) string { return string([]rune(s)) }

func errorName(err error) string {
	var engine *EngineError
	switch {
	case errors.As(err, &engine):
		return strings.Join([]string{"engine:", engine.Message, engine.Type, engine.Code}, " ")
	case errors.Is(err, ErrGarbage):
		return "garbage"
	case errors.Is(err, ErrEventTooLarge):
		return "large"
	}
	return ""
}

// slow reads a stream byte by byte and decodes every event whole: the oracle. ok is false where it has no opinion, for
// JSON that repeats members or nests too deep.
func slow(input []byte, most int) (v verdict, ok bool) {
	rest := input
	for first := true; ; first = false {
		event, after, whole := cutEvent(rest)
		if len(event) > most {
			v.Err = "large"
			return v, true
		}
		if !whole {
			return v, true
		}
		if first {
			event = bytes.TrimPrefix(event, []byte("\xEF\xBB\xBF"))
		}
		data, failed, isEvent := dataOf(event)
		switch goesOn, known := v.read(data, failed, isEvent); {
		case !known:
			return v, false
		case !goesOn:
			return v, true
		}
		if strings.HasPrefix(string(after), "\n") && bytes.HasSuffix(rest[:len(rest)-len(after)], []byte("\r")) {
			after = after[1:]
		}
		v.Out += string(rest[:len(rest)-len(after)])
		rest = after
	}
}

// cutEvent ends an event at the first byte that ends an empty line.
func cutEvent(rest []byte) (event, after []byte, whole bool) {
	lineStart := 0
	for i := 0; i < len(rest); i++ {
		if rest[i] != '\n' && rest[i] != '\r' {
			continue
		}
		if i == lineStart {
			return rest[:i+1], rest[i+1:], true
		}
		if rest[i] == '\r' && i+1 < len(rest) && rest[i+1] == '\n' {
			i++
		}
		lineStart = i + 1
	}
	return rest, nil, false
}

func dataOf(event []byte) (data string, failed, ok bool) {
	text := strings.ReplaceAll(strings.ReplaceAll(string(event), "\r\n", "\n"), "\r", "\n")
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case name == "data", name == "error":
			lines = append(lines, value)
			failed = failed || name == "error"
		case name == "event":
			failed = failed || value == "error"
		case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
			return "", false, false
		}
	}
	return strings.Join(lines, "\n"), failed, true
}

// read takes one event's data, goesOn is false when it ends the stream.
func (v *verdict) read(data string, failed, isEvent bool) (goesOn, known bool) {
	if !isEvent {
		v.Err = "garbage"
		return false, true
	}
	if data == "" {
		return true, true
	}
	if strings.TrimSpace(data) == "[DONE]" {
		v.Done = true
		return false, true
	}
	strict := jsontext.Value(data)
	if !strict.IsValid(jsontext.AllowInvalidUTF8(true)) &&
		strict.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		return false, false
	}
	if strings.Count(data, "[")+strings.Count(data, "{") > maxDepth {
		return false, false
	}
	d := json.NewDecoder(strings.NewReader(data))
	d.UseNumber()
	var chunk object
	if err := d.Decode(&chunk); err != nil || chunk == nil || !json.Valid([]byte(data)) {
		v.Err = "garbage"
		return false, true
	}
	if v.failure(chunk, failed) {
		return false, true
	}
	return true, v.chunk(chunk)
}

type object = map[string]any

func (v *verdict) failure(chunk object, named bool) bool {
	flat := chunk["object"] == "error"
	e, given := chunk["error"]
	no, isBool := e.(bool)
	given = given && e != nil && (!isBool || no)
	if !flat && !given && !named {
		return false
	}
	var words object
	switch e := e.(type) {
	case string:
		words = object{"message": e}
	case object:
		words = e
	}
	if flat || !given {
		words = chunk
	}
	v.Err = strings.Join([]string{"engine:", word(words["message"]), word(words["type"]), word(words["code"])}, " ")
	return true
}

func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return string(v)
	}
	return ""
}

// chunk counts one chunk, false where a choice says two texts, which no engine does.
func (v *verdict) chunk(chunk object) (known bool) {
	if usage, ok := chunk["usage"].(object); ok {
		details, _ := usage["prompt_tokens_details"].(object)
		v.HasUsage = true
		v.Usage.PromptTokens, _ = whole(usage["prompt_tokens"])
		v.Usage.CompletionTokens, _ = whole(usage["completion_tokens"])
		v.Usage.CachedTokens, v.Usage.CachedKnown = whole(details["cached_tokens"])
	}
	choices, _ := chunk["choices"].([]any)
	output, text := false, ""
	for _, c := range choices {
		choice, _ := c.(object)
		index, _ := whole(choice["index"])
		said := v.choice(choice, &output)
		if len(said) > 1 {
			return false
		}
		if index == 0 && len(said) == 1 {
			text = said[0]
		}
	}
	v.Text += text
	if output {
		v.Tokens++
	}
	return true
}

// choice returns the texts of one choice that are not empty.
func (v *verdict) choice(choice object, output *bool) (texts []string) {
	for _, name := range []string{"delta", "message"} {
		delta, _ := choice[name].(object)
		for _, field := range []string{"content", "reasoning", "reasoning_content", "refusal"} {
			s, _ := delta[field].(string)
			*output = *output || s != ""
			if field == "content" && s != "" {
				texts = append(texts, s)
			}
			v.Reasoned = v.Reasoned || s != "" && strings.HasPrefix(field, "reasoning")
		}
		calls, _ := delta["tool_calls"].([]any)
		call, _ := delta["function_call"].(object)
		*output = *output || len(calls)+len(call) > 0
	}
	if s, _ := choice["text"].(string); s != "" {
		texts = append(texts, s)
		*output = true
	}
	if s, _ := choice["finish_reason"].(string); s != "" {
		v.Finish = s
	}
	return texts
}

func whole(v any) (int, bool) {
	num, _ := v.(json.Number)
	n, err := num.Int64()
	if err != nil {
		return 0, false
	}
	return int(n), true
}
