package doorstest

import (
	"testing"

	"github.com/openai/openai-go/v3/responses"
)

// responsesWords are the events of Responses by words: @ stands for the item that the word names, # for the number of
// the event.
var responsesWords = map[string]string{
	"created": `response.created {"type":"response.created","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"in_progress","output":[]}}`,
	"begun": `response.in_progress {"type":"response.in_progress","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"in_progress","output":[]}}`,
	"+text": `response.output_item.added {"type":"response.output_item.added","sequence_number":#,"output_index":@,` +
		`"item":{"id":"i@","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
	"+think": `response.output_item.added {"type":"response.output_item.added","sequence_number":#,"output_index":@,` +
		`"item":{"id":"i@","type":"reasoning","status":"in_progress","summary":[],"content":[]}}`,
	"+call": `response.output_item.added {"type":"response.output_item.added","sequence_number":#,"output_index":@,` +
		`"item":{"id":"i@","type":"function_call","status":"in_progress","call_id":"c@","name":"f","arguments":""}}`,
	"part": `response.content_part.added {"type":"response.content_part.added","sequence_number":#,"output_index":@,` +
		`"content_index":0,"item_id":"i@","part":{"type":"output_text","text":""}}`,
	"thoughts": `response.content_part.added {"type":"response.content_part.added","sequence_number":#,` +
		`"output_index":@,"content_index":0,"item_id":"i@","part":{"type":"reasoning_text","text":""}}`,
	"text": `response.output_text.delta {"type":"response.output_text.delta","sequence_number":#,"output_index":@,` +
		`"content_index":0,"item_id":"i@","delta":"a","logprobs":[]}`,
	"think": `response.reasoning_text.delta {"type":"response.reasoning_text.delta","sequence_number":#,` +
		`"output_index":@,"content_index":0,"item_id":"i@","delta":"b"}`,
	"args": `response.function_call_arguments.delta {"type":"response.function_call_arguments.delta",` +
		`"sequence_number":#,"output_index":@,"item_id":"i@","delta":"{}"}`,
	"told": `response.output_text.done {"type":"response.output_text.done","sequence_number":#,"output_index":@,` +
		`"content_index":0,"item_id":"i@","text":"a","logprobs":[]}`,
	"thought": `response.reasoning_text.done {"type":"response.reasoning_text.done","sequence_number":#,` +
		`"output_index":@,"content_index":0,"item_id":"i@","text":"b"}`,
	"called": `response.function_call_arguments.done {"type":"response.function_call_arguments.done",` +
		`"sequence_number":#,"output_index":@,"item_id":"i@","name":"f","arguments":"{}"}`,
	"-part": `response.content_part.done {"type":"response.content_part.done","sequence_number":#,"output_index":@,` +
		`"content_index":0,"item_id":"i@","part":{"type":"output_text","text":"a"}}`,
	"-thoughts": `response.content_part.done {"type":"response.content_part.done","sequence_number":#,` +
		`"output_index":@,"content_index":0,"item_id":"i@","part":{"type":"reasoning_text","text":"b"}}`,
	"-text": `response.output_item.done {"type":"response.output_item.done","sequence_number":#,"output_index":@,` +
		`"item":{"id":"i@","type":"message","status":"completed","role":"assistant",` +
		`"content":[{"type":"output_text","text":"a"}]}}`,
	"-think": `response.output_item.done {"type":"response.output_item.done","sequence_number":#,"output_index":@,` +
		`"item":{"id":"i@","type":"reasoning","status":"completed","summary":[],` +
		`"content":[{"type":"reasoning_text","text":"b"}]}}`,
	"-call": `response.output_item.done {"type":"response.output_item.done","sequence_number":#,"output_index":@,` +
		`"item":{"id":"i@","type":"function_call","status":"completed","call_id":"c@","name":"f","arguments":"{}"}}`,
	"none": `response.completed {"type":"response.completed","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"completed","output":[]}}`,
	"one": `response.completed {"type":"response.completed","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"completed","output":[{"id":"i0","type":"message","status":"completed",` +
		`"role":"assistant","content":[{"type":"output_text","text":"a"}]}]}}`,
	"two": `response.completed {"type":"response.completed","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"completed","output":[{"id":"i0","type":"reasoning","status":"completed",` +
		`"summary":[],"content":[{"type":"reasoning_text","text":"b"}]},{"id":"i1","type":"function_call",` +
		`"status":"completed","call_id":"c1","name":"f","arguments":"{}"}]}}`,
	"short": `response.incomplete {"type":"response.incomplete","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},` +
		`"output":[{"id":"i0","type":"message","status":"completed","role":"assistant",` +
		`"content":[{"type":"output_text","text":"a"}]}]}}`,
	"failed": `response.failed {"type":"response.failed","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"failed","output":[]}}`,
	"mixed": `response.completed {"type":"response.completed","sequence_number":#,"response":{"id":"r",` +
		`"object":"response","status":"incomplete","output":[]}}`,
	"other": `response.completed {"type":"response.completed","sequence_number":#,"response":{"id":"q",` +
		`"object":"response","status":"completed","output":[]}}`,
	"error": `error {"type":"error","sequence_number":#,"code":"upstream_reset","message":"no","param":null,` +
		`"request_id":"x"}`,
	"again": `response.output_text.delta {"type":"response.output_text.delta","sequence_number":0,"output_index":@,` +
		`"content_index":0,"item_id":"i@","delta":"a","logprobs":[]}`,
}

// whole is an item of text, from its beginning to its end.
const whole = "+text0 part0 text0 told0 -part0 -text0"

// Issue 20: the orders of events that clients of Responses accept, and none that they do not.
func TestOrdersOfResponses(t *testing.T) {
	const both = `|b|[{c1 f {}}]`
	for sentence, want := range map[string]string{
		"created none":                      none,
		"created begun none":                none,
		"created begun " + whole + " one":   "a||[]",
		"created " + whole + " short":       "a||[]",
		"created failed":                    none,
		"created +text0 part0 text0 error":  "upstream_reset",
		"created +text0 part0 text0 failed": none,
		"error":                             "upstream_reset",
		"created begun +think0 thoughts0 think0 thought0 -thoughts0 -think0 +call1 args1 called1 -call1 two": both,
		"created begun +think0 +call1 args1 thoughts0 think0 called1 -call1 thought0 -thoughts0 -think0 two": both,

		"":                                        "cut",
		"created":                                 "cut",
		"created begun " + whole:                  "cut",
		"none":                                    "refused",
		"begun none":                              "refused",
		"+text0":                                  "refused",
		"created created none":                    "refused",
		"created +text0 begun":                    "refused",
		"created +text1":                          "refused",
		"created +text0 +text0":                   "refused",
		"created part0":                           "refused",
		"created text0":                           "refused",
		"created +text0 text0":                    "refused", // no part has begun
		"created +text0 part0 part0":              "refused",
		"created +text0 thoughts0":                "refused",
		"created +text0 part0 think0":             "refused",
		"created +call0 part0":                    "refused",
		"created +call0 text0":                    "refused",
		"created +text0 args0":                    "refused",
		"created +text0 part0 told0":              "refused", // another text than what came
		"created +text0 part0 text0 -part0":       "refused",
		"created +text0 part0 text0 told0 text0":  "refused",
		"created +text0 part0 text0 told0 told0":  "refused",
		"created +text0 part0 text0 told0 -text0": "refused",
		"created +text0 part0 text0 told0 -part0 -think0": "refused",
		"created +call0 args0 -call0":                     "refused",
		"created +call0 called0":                          "refused",
		"created " + whole + " text0":                     "refused",
		"created " + whole + " -text0":                    "refused",
		"created " + whole + " none":                      "refused", // an item is missing
		"created +text0 part0 text0 one":                  "refused",
		"created one":                                     "refused",
		"created mixed":                                   "refused",
		"created other":                                   "refused",
		"created none none":                               "refused",
		"created none error":                              "refused",
		"created error none":                              "refused",
		"created +text0 part0 text0 again0":               "refused", // the same number again
	} {
		stream := spell(t, responsesWords, sentence)
		said, err := Responses(stream)
		if got := verdict(said, err); got != want {
			t.Errorf("%q: %s, want %s (%v)", sentence, got, want, err)
		}
		if want != "refused" {
			clientOfResponses(t, sentence, stream, said)
		}
	}
}

// clientOfResponses has the SDK's accumulator read a stream that is accepted.
func clientOfResponses(t *testing.T, sentence, stream string, said *Said) {
	t.Helper()
	var a responses.ResponseAccumulator
	err := frames(stream, func(f *frame) error {
		var e responses.ResponsesServerEventUnion
		if err := e.UnmarshalJSON([]byte(f.data)); err != nil || f.name == "error" {
			return err
		}
		return a.AddEvent(e)
	})
	snapshot := a.Snapshot()
	if err != nil || said.Done && (snapshot.TerminalEvent == "" || snapshot.OutputText() != said.Text) {
		t.Errorf("%q: the SDK has %v and %+v", sentence, err, snapshot)
	}
}

// What is said of chat completions: one end, calls that begin before they go on, and nothing behind a finish_reason.
func TestOrdersOfChats(t *testing.T) {
	words := map[string]string{
		"text":  `message {"choices":[{"delta":{"content":"a"},"finish_reason":null}]}`,
		"think": `message {"choices":[{"delta":{"reasoning_content":"b"},"finish_reason":null}]}`,
		"call":  `message {"choices":[{"delta":{"tool_calls":[{"index":@,"id":"c@","function":{"name":"f"}}]}}]}`,
		"args":  `message {"choices":[{"delta":{"tool_calls":[{"index":@,"function":{"arguments":"{}"}}]}}]}`,
		"stop":  `message {"choices":[{"delta":{},"finish_reason":"stop"}]}`,
		"usage": `message {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`,
		"error": `message {"error":{"code":"upstream_reset","message":"no"},"request_id":"r"}`,
		"done":  `message [DONE]`,
	}
	for sentence, want := range map[string]string{
		"text text stop usage done": "aa||[]", "think text stop done": "a|b|[]",
		"call0 args0 call1 args1 args0 stop done": "||[{c0 f {}{}} {c1 f {}}]", "text error": "upstream_reset",
		"text": "cut", "text stop": "cut", "text done done": "refused", "text done error": "refused",
		"text error done": "refused", "stop text": "refused", "args0": "refused", "call1": "refused",
	} {
		if got := verdict(Chat(spell(t, words, sentence))); got != want {
			t.Errorf("%q: %s, want %s", sentence, got, want)
		}
	}
}
