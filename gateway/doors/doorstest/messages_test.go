package doorstest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
)

// messagesWords are the events of Messages by words: @ stands for the block that the word names.
var messagesWords = map[string]string{
	"start": `message_start {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",` +
		`"model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":0}}}`,
	"+text": `content_block_start {"type":"content_block_start","index":@,"content_block":{"type":"text","text":""}}`,
	"+think": `content_block_start {"type":"content_block_start","index":@,"content_block":{"type":"thinking",` +
		`"thinking":"","signature":""}}`,
	"+call": `content_block_start {"type":"content_block_start","index":@,"content_block":{"type":"tool_use",` +
		`"id":"t@","name":"f","input":{}}}`,
	"+other": `content_block_start {"type":"content_block_start","index":@,"content_block":{"type":"other"}}`,
	"text":   `content_block_delta {"type":"content_block_delta","index":@,"delta":{"type":"text_delta","text":"a"}}`,
	"think": `content_block_delta {"type":"content_block_delta","index":@,"delta":{"type":"thinking_delta",` +
		`"thinking":"b"}}`,
	"sign": `content_block_delta {"type":"content_block_delta","index":@,"delta":{"type":"signature_delta",` +
		`"signature":"s"}}`,
	"open": `content_block_delta {"type":"content_block_delta","index":@,"delta":{"type":"input_json_delta",` +
		`"partial_json":"{\"x\":"}}`,
	"shut": `content_block_delta {"type":"content_block_delta","index":@,"delta":{"type":"input_json_delta",` +
		`"partial_json":"1}"}}`,
	"-":     `content_block_stop {"type":"content_block_stop","index":@}`,
	"delta": `message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`,
	"short": `message_delta {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":2}}`,
	"stop":  `message_stop {"type":"message_stop"}`,
	"ping":  `ping {"type":"ping"}`,
	"error": `error {"type":"error","error":{"type":"api_error","code":"upstream_reset","message":"no"},` +
		`"request_id":"r"}`,
	"misnamed": `message_stop {"type":"ping"}`,
}

// spell writes a stream of words, each alone or with the number of its block or item.
func spell(t *testing.T, words map[string]string, sentence string) string {
	t.Helper()
	var stream strings.Builder
	for n, word := range strings.Fields(sentence) {
		at := "0"
		if last := word[len(word)-1]; last >= '0' && last <= '9' {
			word, at = word[:len(word)-1], string(last)
		}
		event, known := words[word]
		if !known {
			t.Fatalf("no event is called %q", word)
		}
		name, data, _ := strings.Cut(event, " ")
		data = strings.NewReplacer("@", at, "#", fmt.Sprint(n)).Replace(data)
		fmt.Fprintf(&stream, "event: %s\ndata: %s\n\n", name, data)
	}
	return stream.String()
}

// verdict says what a sentence comes to.
func verdict(said *Said, err error) string {
	var order *Order
	switch {
	case errors.As(err, &order):
		return "refused"
	case err != nil:
		return "cut"
	case said.Code != "":
		return said.Code
	}
	return fmt.Sprintf("%s|%s|%v", said.Text, said.Reasoning, said.Calls)
}

const none = "||[]"

// Issue 20: the orders of events that clients of Messages accept, and none that they do not.
func TestOrdersOfMessages(t *testing.T) {
	for sentence, want := range map[string]string{
		"start delta stop":                                             none,
		"start +text0 -0 delta stop":                                   none,
		"start +text0 text0 text0 -0 delta stop":                       "aa||[]",
		"ping start ping +text0 ping text0 ping -0 ping delta stop":    "a||[]",
		"start +think0 think0 sign0 -0 +text1 text1 -1 delta stop":     "a|b|[]",
		"start +call0 open0 shut0 -0 delta stop":                       `||[{t0 f {"x":1}}]`,
		"start +call0 -0 delta stop":                                   "||[{t0 f }]",
		"start +call0 open0 +call1 open1 shut0 -0 shut1 -1 delta stop": `||[{t0 f {"x":1}} {t1 f {"x":1}}]`,
		"start +text0 +text1 text1 text0 -1 -0 delta stop":             "aa||[]", // blocks may overlap
		"start delta delta stop":                                       none,     // the last one counts
		// what is cut is half an object
		"start +call0 open0 -0 short stop": `||[{t0 f {"x":}]`,
		"start +text0 text0 error":         "upstream_reset",
		"start delta error":                "upstream_reset",
		"error":                            "upstream_reset",

		"":                            "cut",
		"start":                       "cut",
		"start +text0 text0 -0":       "cut",
		"start +text0 text0 -0 delta": "cut",
		"stop":                        "refused",
		"+text0":                      "refused",
		"start start delta stop":      "refused",
		"start stop":                  "refused",
		"start +text1":                "refused",
		"start +text0 +text0":         "refused",
		"start +text0 -0 +text0":      "refused",
		"start +other0":               "refused",
		"start text0":                 "refused",
		"start +text0 text1":          "refused",
		"start +text0 think0":         "refused",
		"start +text0 open0":          "refused",
		"start +call0 text0":          "refused",
		"start +call0 open0 -0 delta": "refused", // half an object
		"start +text0 -0 text0":       "refused",
		"start +text0 -0 -0":          "refused",
		"start +text0 delta":          "refused",
		"start delta +text0":          "refused",
		"start delta stop stop":       "refused",
		"start delta stop ping":       "refused",
		"start delta stop error":      "refused",
		"start error error":           "refused",
		"start error delta stop":      "refused",
		"start misnamed delta stop":   "refused",
	} {
		stream := spell(t, messagesWords, sentence)
		if got := verdict(Messages(stream)); got != want {
			t.Errorf("%q: %s, want %s", sentence, got, want)
		}
		clientOfMessages(t, sentence, stream, want != "refused")
	}
	for _, broken := range []string{"event: ping\ndata: {}", "what: ping\n\n", "event: ping\ndata: {\n\n"} {
		if got := verdict(Messages(broken)); got != "refused" {
			t.Errorf("%q: %s", broken, got)
		}
	}
}

// clientOfMessages has the SDK's accumulator read a stream: what is accepted it must take, with the same text.
func clientOfMessages(t *testing.T, sentence, stream string, accepted bool) {
	t.Helper()
	var whole anthropic.Message
	text := ""
	err := frames(stream, func(f *frame) error {
		if f.name == "error" || f.name == "ping" { // the SDK's stream keeps them to itself
			return nil
		}
		var e anthropic.MessageStreamEventUnion
		if err := e.UnmarshalJSON([]byte(f.data)); err != nil {
			return err
		}
		return whole.Accumulate(e)
	})
	if !accepted {
		return // some of these only other clients refuse
	}
	for _, b := range whole.Content {
		text += b.Text
	}
	said, _ := Messages(stream)
	if err != nil || text != said.Text {
		t.Errorf("%q: the SDK has %v and %q, want %q", sentence, err, text, said.Text)
	}
}

// What the SDK refuses of all short orders is refused.
func TestNothingIsAcceptedThatTheClientOfMessagesRefuses(t *testing.T) {
	words := []string{"+text0", "+text1", "+call1", "text0", "text1", "-0", "-1"}
	n, accepted := 0, 0
	var try func(sentence string, left int)
	try = func(sentence string, left int) {
		stream := spell(t, messagesWords, "start "+sentence+" delta stop")
		n++
		if said, err := Messages(stream); err == nil && said.Done {
			accepted++
			clientOfMessages(t, sentence, stream, true)
		}
		for _, word := range words {
			if left > 0 {
				try(sentence+" "+word, left-1)
			}
		}
	}
	try("", 4)
	if accepted < 10 || accepted > n/10 {
		t.Errorf("%d of %d orders are accepted", accepted, n)
	}
}
