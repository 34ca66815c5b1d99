package stream

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"octet/gateway/sse"
)

// transcribed is the transcript of a stream that comes in pieces of step bytes.
func transcribed(events string, step int, most int64) *Transcript {
	var kept Transcript
	kept.Keep(most)
	var o sse.Options
	kept.Begin(&o, false)
	var s sse.Scanner
	s.Reset(o)
	for len(events) > 0 {
		n := min(step, len(events))
		if _, err := s.Feed([]byte(events[:n])); err != nil {
			break
		}
		events = events[n:]
	}
	return &kept
}

// delta is an event with a delta.
func delta(members string) string {
	return `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + members +
		`},"finish_reason":null}]}` + "\n\n"
}

func calls(list ...string) string { return delta(`"tool_calls":[` + strings.Join(list, ",") + `]`) }

// Tool calls are gathered whole, whatever an engine's way of giving them out.
func TestToolCallsAreGatheredWhole(t *testing.T) {
	first := `{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`
	more := func(index int, args string) string {
		quoted, _ := json.Marshal(args)
		return fmt.Sprintf(`{"index":%d,"function":{"arguments":%s}}`, index, quoted)
	}
	second := `{"index":1,"id":"b","function":{"name":"grep","arguments":"{}"}}`
	read := ToolCall{Name: "read", Arguments: []byte(`{"path":"a\n"}`)}
	grep := ToolCall{Name: "grep", Arguments: []byte(`{}`)}
	for _, row := range []struct {
		name, events, text string
		want               []ToolCall
	}{
		{"none", delta(`"content":"hi"`) + delta(`"tool_calls":[]`) + delta(`"tool_calls":null`), "hi", nil},
		{"arguments in pieces", calls(first) + calls(more(0, `{"pa`)) + calls(more(0, `th":"a\n`)) +
			calls(more(0, `"}`)), "", []ToolCall{read}},
		{"behind text", delta(`"content":"I lo"`) + delta(`"content":"ok"`) + calls(first) +
			calls(more(0, `{"path":"a\n"}`)), "I look", []ToolCall{read}},
		{"two in turn", calls(first) + calls(second) + calls(more(0, `{"path":"a\n"}`)), "", []ToolCall{read, grep}},
		{"two in one event", calls(first, second) + calls(more(0, `{"path":"a\n"}`)), "", []ToolCall{read, grep}},
		{"all at one index", calls(`{"index":0,"id":"a","function":{"name":"grep","arguments":"{}"}}`) +
			calls(`{"index":0,"id":"b","function":{"name":"grep","arguments":"{}"}}`), "", []ToolCall{grep, grep}},
		{"at one index, without ids", calls(`{"index":0,"function":{"name":"grep","arguments":"{}"}}`) +
			calls(`{"index":0,"function":{"name":"read","arguments":"{\"path\":\"a\\n\"}"}}`), "",
			[]ToolCall{grep, read}},
		{"without an index", calls(`{"id":"a","function":{"name":"grep","arguments":"{"}}`) +
			calls(`{"function":{"arguments":"}"}}`), "", []ToolCall{grep}},
		{"the name in every piece", calls(`{"index":0,"function":{"name":"grep","arguments":"{"}}`) +
			calls(`{"index":0,"function":{"name":"grep","arguments":"}"}}`), "", []ToolCall{grep}},
		{"the name in pieces", calls(`{"index":0,"function":{"name":"gr"}}`) +
			calls(`{"index":0,"function":{"name":"ep","arguments":"{}"}}`), "", []ToolCall{grep}},
		{"arguments as JSON", calls(`{"index":0,"function":{"name":"f","arguments":{"a": 1}}}`), "",
			[]ToolCall{{Name: "f", Arguments: []byte(`{"a": 1}`)}}},
		{"no arguments", calls(`{"index":0,"function":{"name":"f","arguments":null}}`), "", []ToolCall{{Name: "f"}}},
		{"a custom tool", calls(`{"index":0,"type":"custom","custom":{"name":"patch","input":"*** a"}}`), "",
			[]ToolCall{{Name: "patch", Arguments: []byte("*** a"), Free: true}}},
		{"as before there were tools", delta(`"function_call":{"name":"grep","arguments":"{"}`) +
			delta(`"function_call":{"arguments":"}"}`), "", []ToolCall{grep}},
		{"of another choice", strings.Replace(calls(second), `[{"index":0`, `[{"index":1`, 1), "", nil},
		{"the index behind the delta", `data: {"choices":[{"delta":{"tool_calls":[` + second + `]},"index":0}]}` +
			"\n\n", "", []ToolCall{grep}},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			kept := transcribed(row.events, step, 1000)
			text, ok := kept.Within(1000)
			if got := kept.Calls(); !ok || string(text) != row.text || len(got) != len(row.want) ||
				kept.CallsTools() != (len(row.want) > 0) || !reflect.DeepEqual(plain(got), plain(row.want)) {
				t.Errorf("%s: %v, %q, %q, want %q", row.name, ok, text, plain(got), plain(row.want))
			}
		}
	}
}

// plain is calls as text.
func plain(calls []ToolCall) (all []string) {
	for _, c := range calls {
		all = append(all, fmt.Sprintf("%s %s %v", c.Name, c.Arguments, c.Free))
	}
	return all
}

// What is kept is bounded, text and calls together.
func TestGatheredCallsAreBounded(t *testing.T) {
	args := strings.Repeat("x", 100)
	piece := calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"` + args + `"}}`)
	few, many := transcribed(piece, 1<<20, 300), transcribed(strings.Repeat(piece, 3), 1<<20, 300)
	if _, ok := few.Within(300); !ok || few.Over() || !few.CallsTools() {
		t.Error("a call within the bound is kept")
	}
	if _, ok := few.Within(100); ok {
		t.Error("100 bytes of arguments and more are not within 100")
	}
	if _, ok := many.Within(300); ok || !many.Over() || many.Calls() != nil {
		t.Error("300 bytes of arguments are more than 300 with their call")
	}
	both := transcribed(delta(`"content":"`+args+args+`"`)+piece, 1<<20, 300)
	if _, ok := both.Within(300); ok || !both.Over() {
		t.Error("text and calls are bounded together")
	}
	var list strings.Builder
	for i := range mostCalls + 1 {
		list.WriteString(calls(fmt.Sprintf(`{"index":%d,"function":{"name":"f"}}`, i)))
	}
	if crowd := transcribed(list.String(), 1<<20, 1<<30); !crowd.Over() || crowd.calls.size != 0 {
		t.Error("calls without end are kept")
	}
}

// Calls of an engine that died are not in the transcript: the client has seen nothing of them, or the answer ends.
func TestCallsBeginAnewAtAnotherEngine(t *testing.T) {
	for _, seen := range []bool{false, true} {
		kept := transcribed(delta(`"content":"I look"`)+calls(`{"index":0,"function":{"name":"re"}}`), 1<<20, 1000)
		var o sse.Options
		kept.Begin(&o, seen)
		o.Calls(sse.Call{Name: []byte("read"), Arguments: []byte(`{\"a\":1}`)})
		if got := kept.Calls(); len(got) != 1 || got[0].Name != "read" || string(got[0].Arguments) != `{"a":1}` {
			t.Errorf("seen %v: %q", seen, plain(got))
		}
	}
}

func TestCallsOfAnAnswerInOnePieceAreKept(t *testing.T) {
	body := `{"choices":[{"index":1,"message":{"tool_calls":[{"function":{"name":"no"}}]}},` +
		`{"index":0,"message":{"content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\u00e9\"}"}},` +
		`{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]}}]}`
	var kept Transcript
	kept.Whole([]byte(body), &sse.Unary{})
	if kept.CallsTools() {
		t.Error("calls are kept that are of no use")
	}
	kept.Keep(1000)
	for range 2 {
		kept.Whole([]byte(body), &sse.Unary{})
	}
	if got := plain(kept.Calls()); !reflect.DeepEqual(got, []string{`f {"a":"\u00e9"} false`, `f {} false`}) {
		t.Errorf("%q", got)
	}
}

// accumulated is the slow, obvious way to gather calls: every event decoded, names and arguments joined by index.
func accumulated(events string) (all []string) {
	type call struct {
		name, args string
	}
	var order []int
	byIndex := map[int]*call{}
	for _, event := range strings.Split(events, "\n\n") {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Calls []struct {
						Index    int
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &chunk) != nil {
			continue
		}
		for _, p := range chunk.Choices[0].Delta.Calls {
			if byIndex[p.Index] == nil {
				byIndex[p.Index] = new(call)
				order = append(order, p.Index)
			}
			c := byIndex[p.Index]
			c.name, c.args = c.name+p.Function.Name, c.args+p.Function.Arguments
		}
	}
	for _, i := range order {
		all = append(all, fmt.Sprintf("%s %s false", byIndex[i].name, byIndex[i].args))
	}
	return all
}

// However pieces of calls are mixed and the stream is cut, they are gathered as by decoding every event.
func TestCallsAreGatheredAsTheyDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		var events strings.Builder
		begun := map[int]bool{}
		for range r.IntN(30) {
			var list []string
			for range 1 + r.IntN(3) {
				index := r.IntN(4)
				name := ""
				if !begun[index] {
					name = fmt.Sprintf(`"name":"f%d\n",`, index)
				}
				begun[index] = true
				args, _ := json.Marshal([]string{"", "{", `"é\`, "😀", "\x01}"}[r.IntN(5)])
				list = append(list, fmt.Sprintf(`{"index":%d,"function":{%s"arguments":%s}}`, index, name, args))
			}
			if events.WriteString(calls(list...)); r.IntN(4) == 0 {
				events.WriteString(delta(`"content":"x"`))
			}
		}
		kept := transcribed(events.String(), 1+r.IntN(300), 1<<20)
		if got, want := plain(kept.Calls()), accumulated(events.String()); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q, want %q, of\n%s", got, want, &events)
		}
	})
}
