package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
)

// chunks is a stream of a chat completion.
func chunks(deltas ...string) (events []byte) {
	for _, d := range deltas {
		events = fmt.Appendf(events, "data: {\"id\":\"c1\",\"model\":\"m\",%s}\n\n", d)
	}
	return events
}

func delta2(members string) string {
	return `"choices":[{"index":0,"delta":{` + members + `},"finish_reason":null}]`
}

func finish(reason string) string {
	return `"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]`
}

const usage = `"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,` +
	`"prompt_tokens_details":{"cached_tokens":5}}`

// outline is a stream of Messages in short: each event by its type, with what it says.
func outline(t *testing.T, events []byte) string {
	t.Helper()
	var short []string
	if err := grammar(events, &short); err != nil {
		t.Errorf("%v in\n%s", err, events)
	}
	if _, err := doorstest.Messages(string(events)); err != nil {
		t.Error(err)
	}
	return strings.Join(short, " ")
}

// event is what an event of Messages may hold.
type event struct {
	Type    string
	Index   int
	Message struct {
		ID, Type, Role, Model string
		Content               []any
		Usage                 *map[string]int
	}
	Block *struct {
		Type, ID, Name string
	} `json:"content_block"`
	Delta struct {
		Type, Text, Thinking string
		JSON                 string  `json:"partial_json"`
		Reason               string  `json:"stop_reason"`
		Stop                 *string `json:"stop_sequence"`
	}
	Usage map[string]int
}

// grammar checks that events are a stream of Messages with one good end, and outlines them into short.
func grammar(events []byte, short *[]string) error {
	state, next := "", 0
	for whole := range strings.SplitSeq(strings.TrimSuffix(string(events), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(whole, "event: "), "\ndata: ")
		var e event
		if err := json.Unmarshal([]byte(data), &e); !ok || err != nil || e.Type != name {
			return fmt.Errorf("%q is no event of its name: %v", whole, err)
		}
		var say string
		switch was := state; {
		case name == "message_start" && was == "" && e.Message.Role == "assistant" && e.Message.Type == "message" &&
			len(e.Message.Content) == 0 && e.Message.Usage != nil:
			state, say = "between", "start"
		case name == "content_block_start" && was == "between" && e.Index == next && e.Block != nil:
			state, say = e.Block.Type, "+"+e.Block.Type+strings.TrimSuffix(":"+e.Block.ID+":"+e.Block.Name, "::")
		case name == "content_block_delta" && e.Index == next && (was == "text" && e.Delta.Type == "text_delta" ||
			was == "thinking" && e.Delta.Type == "thinking_delta" || was == "tool_use" &&
			e.Delta.Type == "input_json_delta"):
			say = e.Delta.Text + e.Delta.Thinking + e.Delta.JSON
		case name == "content_block_stop" && e.Index == next &&
			(was == "text" || was == "thinking" || was == "tool_use"):
			state, say = "between", "-"
			next++
		case name == "message_delta" && was == "between" && e.Delta.Reason != "":
			state, say = "ending", fmt.Sprintf("%s/%d+%d/%d", e.Delta.Reason, e.Usage["input_tokens"],
				e.Usage["cache_read_input_tokens"], e.Usage["output_tokens"])
			if e.Delta.Stop != nil {
				say += "/" + *e.Delta.Stop
			}
		case name == "message_stop" && was == "ending":
			state, say = "ended", "stop"
		default:
			return fmt.Errorf("%s within %q", whole, was)
		}
		if short != nil {
			*short = append(*short, say)
		}
	}
	if state != "ended" {
		return fmt.Errorf("the stream ends within %q", state)
	}
	return nil
}

func TestEventsOfAStream(t *testing.T) {
	const call = `"tool_calls":[{"index":%d,"id":"%s","type":"function","function":{"name":"ls","arguments":""}}]`
	const more = `"tool_calls":[{"index":%d,"function":{"arguments":"%s"}}]`
	const bare = `"tool_calls":[{"id":"%s","function":{"name":"ls","arguments":"{}"}}]`
	for name, c := range map[string]struct {
		in   []string
		want string
	}{
		"text": {[]string{delta2(`"role":"assistant","content":""`), delta2(`"content":"a"`), delta2(`"content":"b"`),
			finish("stop"), usage},
			"start +text a b - end_turn/4+5/4 stop"},
		"nothing": {[]string{finish("stop")}, "start end_turn/0+0/0 stop"},
		"most tokens": {[]string{delta2(`"content":"a"`), finish("length"), usage},
			"start +text a - max_tokens/4+5/4 stop"},
		"reasoning": {[]string{delta2(`"reasoning_content":"x"`), delta2(`"reasoning":"y","content":null`),
			delta2(`"content":"a"`), finish("stop")},
			"start +thinking x y - +text a - end_turn/0+0/0 stop"},
		"calls": {[]string{delta2(`"content":"a"`), delta2(fmt.Sprintf(call, 0, "t1")),
			delta2(fmt.Sprintf(more, 0, `{\"a\":`)),
			delta2(fmt.Sprintf(more, 0, `1}`)), delta2(fmt.Sprintf(call, 1, "")), delta2(fmt.Sprintf(more, 1, `{}`)),
			finish("tool_calls"), usage},
			`start +text a - +tool_use:t1:ls {"a": 1} - +tool_use:toolu_c1_1:ls {} - tool_use/4+5/4 stop`},
		"calls of one number": {[]string{delta2(fmt.Sprintf(call, 0, "t1")), delta2(fmt.Sprintf(more, 0, `{}`)),
			delta2(fmt.Sprintf(call, 0, "t2")), delta2(fmt.Sprintf(more, 0, `{}`)), finish("tool_calls")},
			"start +tool_use:t1:ls {} - +tool_use:t2:ls {} - tool_use/0+0/0 stop"},
		"calls of no number, text between them": {[]string{delta2(fmt.Sprintf(bare, "t1")), delta2(`"content":"a"`),
			delta2(fmt.Sprintf(bare, "t2")), finish("stop")},
			"start +tool_use:t1:ls {} - +text a - +tool_use:t2:ls {} - tool_use/0+0/0 stop"},
		"a call that is named twice": {[]string{delta2(fmt.Sprintf(call, 0, "t1")), delta2(fmt.Sprintf(call, 0, "t1")),
			delta2(fmt.Sprintf(more, 0, `{}`)), finish("tool_calls")},
			"start +tool_use:t1:ls {} - tool_use/0+0/0 stop"},
		"text after a call": {[]string{delta2(fmt.Sprintf(call, 0, "t1")), delta2(`"content":"a"`), finish("stop")},
			"start +tool_use:t1:ls - +text a - tool_use/0+0/0 stop"},
		"a stop string": {[]string{delta2(`"content":"a"`),
			`"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"END"}]`},
			"start +text a - stop_sequence/0+0/0/END stop"},
		"a stop token": {[]string{delta2(`"content":"a"`),
			`"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":128009}]`},
			"start +text a - end_turn/0+0/0 stop"},
		"a refusal": {[]string{delta2(`"refusal":"no"`), finish("content_filter")},
			"start +text no - refusal/0+0/0 stop"},
	} {
		a := new(Answer)
		var all []byte
		for _, chunk := range c.in { // the events come one by one, or all at once
			out, err := a.Events(chunks(chunk))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all = append(all, out...)
		}
		all = append(all, a.Done()...)
		if got := outline(t, all); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
		once := new(Answer)
		out, err := once.Events(chunks(c.in...))
		whole := string(out)
		whole += string(once.Done())
		if err != nil || whole != string(all) {
			t.Errorf("%s: all at once is %q, %v", name, whole, err)
		}
	}
}

func TestWhatIsNoStreamOfOneChoiceIsAnError(t *testing.T) {
	const call = `"tool_calls":[{"index":%d,"function":{"name":"%s","arguments":"{"}}]`
	for name, in := range map[string][]byte{
		"no JSON":           []byte("data: {\"choices\":\n\n"),
		"no object":         []byte("data: 1\n\n"),
		"a call of no name": chunks(delta2(fmt.Sprintf(call, 0, ""))),
		"a call that is over": chunks(delta2(fmt.Sprintf(call, 0, "a")), delta2(fmt.Sprintf(call, 1, "b")),
			delta2(fmt.Sprintf(call, 0, ""))),
		"a call after text": chunks(delta2(fmt.Sprintf(call, 0, "a")), delta2(`"content":"x"`),
			delta2(fmt.Sprintf(call, 0, ""))),
	} {
		out, err := new(Answer).Events(in)
		if chat := strings.Contains(name, "call"); !errors.Is(err, doors.ErrChunk) ||
			errors.Is(err, doors.ErrNoWords) != chat {
			t.Errorf("%s: %q, %v", name, out, err)
		}
	}
}

func TestWhatIsNoChunkSaysNothing(t *testing.T) {
	if out, err := new(Answer).Events([]byte(": a comment\n\ndata: [DONE]\n\nretry: 3\n\n")); err != nil ||
		len(out) > 0 {
		t.Errorf("%q, %v", out, err)
	}
}

func TestAnAnswerInOnePiece(t *testing.T) {
	whole := func(message, finish string) string {
		return `{"id":"c1","model":"m","choices":[{"index":0,"message":{` + message + `},"finish_reason":"` + finish +
			`"}],` +
			`"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":5}}}`
	}
	const front = `{"id":"msg_c1","type":"message","role":"assistant","model":"m","content":[`
	const end = `,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":5,` +
		`"output_tokens":4}}`
	for in, want := range map[string]string{
		whole(`"content":"a\n"`, "stop"): `{"type":"text","text":"a\n"}],"stop_reason":"end_turn","stop_sequence":null`,
		whole(`"content":null`, "stop"):  `],"stop_reason":"end_turn","stop_sequence":null`,
		whole(`"reasoning_content":"x","content":"a"`, "length"): `{"type":"thinking","signature":"","thinking":"x"},` +
			`{"type":"text","text":"a"}],"stop_reason":"max_tokens","stop_sequence":null`,
		whole(
			`"content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"ls",`+
				`"arguments":"{\"a\":1}"}},`+
				`{"function":{"name":"ls","arguments":""}}]`,
			"tool_calls"): `{"type":"tool_use","id":"t1","name":"ls","input":{"a":1}},` +
			`{"type":"tool_use","id":"toolu_c1_1","name":"ls","input":{}}],"stop_reason":"tool_use",` +
			`"stop_sequence":null`,
		whole(`"content":"a","tool_calls":[{"id":"t1","function":{"name":"ls","arguments":"{}"}},`+
			`{"id":"t2","function":{"name":"ls","arguments":"{\"a\":"}}]`, "length"): `{"type":"text","text":"a"},` +
			`{"type":"tool_use","id":"t1","name":"ls","input":{}}],"stop_reason":"max_tokens","stop_sequence":null`,
		whole(`"tool_calls":[{"id":"t1","function":{"name":"ls","arguments":""}}]`, "length"): `],` +
			`"stop_reason":"max_tokens","stop_sequence":null`,
	} {
		if got, err := new(Answer).Whole([]byte(in)); err != nil || string(got) != front+want+end {
			t.Errorf("%s:\n got %s, %v\nwant %s", in, got, err, front+want+end)
		}
	}
	for _, in := range []string{`[]`, `{"choices":`,
		whole(`"tool_calls":[{"function":{"name":"ls","arguments":"{\"a\":"}}]`, "stop"),
		whole(`"tool_calls":[{"function":{"name":"ls","arguments":"{"}},{"function":{"name":"ls","arguments":"{}"}}]`,
			"length"),
		whole(`"tool_calls":[{"function":{"name":"ls","arguments":"[]"}}]`, "stop")} {
		got, err := new(Answer).Whole([]byte(in))
		if chat := strings.Contains(in, "finish_reason"); !errors.Is(err, doors.ErrChunk) ||
			errors.Is(err, doors.ErrNoWords) != chat {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}
