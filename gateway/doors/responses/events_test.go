package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"octet/gateway/apierr"
	"octet/gateway/doors"
	"octet/gateway/doors/doorstest"
)

// chunks is a stream of a chat completion, each chunk by its delta and how it finishes.
func chunks(deltas ...string) (events []byte) {
	for _, d := range deltas {
		delta, finish, _ := strings.Cut(d, " > ")
		if finish == "" {
			finish = "null"
		}
		events = fmt.Appendf(events, "data: {\"id\":\"c1\",\"model\":\"m\",\"created\":7,\"choices\":[{\"index\":0,"+
			"\"delta\":{%s},\"finish_reason\":%s}]}\n\n", delta, finish)
	}
	return append(events, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n"...)
}

// item is an output item.
type item struct {
	Type, ID, Name, Arguments string
	Content                   []struct{ Text string }
}

// event is what an event may hold.
type event struct {
	Type     string
	Sequence *int   `json:"sequence_number"`
	Index    int    `json:"output_index"`
	ItemID   string `json:"item_id"`
	Delta    string
	Text     string
	Item     *item
	Response *struct {
		Status string
		Output []item
	}
}

// grammar checks that events are a stream of Responses with one good end, whose items are what was streamed.
func grammar(events []byte) (short string, err error) {
	state, n, said := "", 0, ""
	var items []string
	var open item
	for whole := range strings.SplitSeq(strings.TrimSuffix(string(events), "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(whole, "event: "), "\ndata: ")
		var e event
		if err := json.Unmarshal([]byte(data), &e); !ok || err != nil || e.Type != name || e.Sequence == nil ||
			*e.Sequence != n {
			return short, fmt.Errorf("%q is no event %d of its name: %v", whole, n, err)
		}
		n++
		step := strings.TrimPrefix(name, "response.")
		ours := e.ItemID == open.ID && e.Index == len(items)
		switch state + " " + step {
		case " created":
			state = "created"
		case "created in_progress":
			state = "between"
		case "between output_item.added":
			state, open, said = e.Item.Type, *e.Item, ""
			if e.Index != len(items) {
				return short, fmt.Errorf("%s comes as item %d", whole, len(items))
			}
		case "message content_part.added", "reasoning content_part.added":
			state += " part"
		case "message part output_text.delta", "reasoning part reasoning_text.delta",
			"function_call function_call_arguments.delta":
			said += e.Delta
		case "message part output_text.done", "reasoning part reasoning_text.done",
			"function_call function_call_arguments.done":
			state = "said"
			if ours = ours && (e.Text == said || open.Type == "function_call"); open.Type == "function_call" {
				state = "whole"
			}
		case "said content_part.done":
			state = "whole"
		case "whole output_item.done":
			state, ours = "between", e.Item.ID == open.ID
			short += fmt.Sprintf("%s %s%s; ", open.Type, open.Name, said)
			items = append(items, open.ID)
		case "between completed", "between incomplete":
			state = "ended"
			short += step
			for i, it := range e.Response.Output {
				ours = ours && i < len(items) && it.ID == items[i]
			}
			ours = len(e.Response.Output) == len(items) && e.Response.Status == step
		default:
			return short, fmt.Errorf("%s within %q", whole, state)
		}
		if strings.Contains(step, "_text.") || strings.Contains(step, "arguments") ||
			strings.HasSuffix(step, "item.done") {
			if !ours {
				return short, fmt.Errorf("%s is not of %+v", whole, open)
			}
		}
	}
	if state != "ended" {
		return short, fmt.Errorf("the stream ends within %q", state)
	}
	return short, nil
}

func TestEventsOfAStream(t *testing.T) {
	const first = `"tool_calls":[{"index":%d,"id":"t","function":{"name":"ls","arguments":""}}]`
	const more = `"tool_calls":[{"index":%d,"function":{"arguments":"{}"}}]`
	for want, in := range map[string][]string{
		"message ab; completed": {`"role":"assistant","content":""`, `"content":"a"`, `"content":"b"`,
			` > "stop"`},
		"message a; incomplete":              {`"content":"a" > "length"`},
		"completed":                          {` > "stop"`},
		"message no; incomplete":             {`"refusal":"no" > "content_filter"`},
		"reasoning xy; message a; completed": {`"reasoning_content":"x"`, `"reasoning":"y"`, `"content":"a" > "stop"`},
		"message a; function_call ls{}; function_call ls{}; completed": {`"content":"a"`, fmt.Sprintf(first, 0),
			fmt.Sprintf(more, 0), fmt.Sprintf(first, 1), fmt.Sprintf(more, 1), ` > "tool_calls"`},
	} {
		a := new(Answer)
		all, err := a.Events(chunks(in...))
		if err != nil {
			t.Fatal(err)
		}
		all = append([]byte(nil), all...)
		all = append(all, a.Done()...)
		if _, err := doorstest.Responses(string(all)); err != nil {
			t.Error(err)
		}
		if got, err := grammar(all); err != nil || got != want {
			t.Errorf("%v: %q, not %q\n%s", err, got, want, all)
		}
	}
	a := new(Answer)
	if out, err := a.Events(chunks(`"content":"a"`, `"tool_calls":[{"index":0,`+
		`"function":{"arguments":"{"}}]`)); !errors.Is(err, doors.ErrChunk) {
		t.Errorf("%q, %v", out, err)
	}
	var e struct {
		Type, Code, Message string
		Sequence            int `json:"sequence_number"`
	}
	_, data, _ := strings.Cut(string(a.Failure(apierr.New(apierr.UpstreamReset, "", "gone"), "r")), "data: ")
	if err := json.Unmarshal([]byte(data), &e); err != nil || e.Type != "error" || e.Code != "upstream_reset" ||
		e.Sequence == 0 {
		t.Errorf("%v, %s", err, data)
	}
}

func FuzzEvents(f *testing.F) {
	doorstest.FuzzEvents(f, func() doors.Answer { return new(Answer) },
		func(stream string) error {
			_, err := grammar([]byte(stream))
			return err
		},
		chunks(`"content":"a"`, `"tool_calls":[{"index":0,"function":{"name":"a"}}]`, ` > "stop"`),
		chunks(`"reasoning":"a","content":"b","tool_calls":[{"function":{"name":"a","arguments":"{}"}},`+
			`{"index":1,"function":{"name":"a"}}]`))
}

func FuzzChat(f *testing.F) {
	doorstest.FuzzChat(f, Door{},
		`{"input":"hi","instructions":"a","tools":[{"type":"function","name":"a"}]}`,
		`{"input":[{"type":"function_call","call_id":"","name":"","arguments":""},{"type":"function_call_output",`+
			`"call_id":"","output":""}]}`,
		`{"input":[{"type":"reasoning","summary":[]},{"role":"user","content":[{"type":"input_image",`+
			`"image_url":"a"}]}],"text":{"format":{"type":"json_schema"}}}`)
}

// TestTheLastItemOfACutAnswerIsIncomplete covers whole answers and streams; what stands before it is completed.
func TestTheLastItemOfACutAnswerIsIncomplete(t *testing.T) {
	const call = `"tool_calls":[{"index":0,"id":"t","function":{"name":"ls","arguments":"{\"a"}}]`
	for finish, want := range map[string]string{"length": "incomplete", "tool_calls": "completed"} {
		streamed, whole := new(Answer), new(Answer)
		if _, err := streamed.Events(chunks(`"content":"a"`, call, ` > "`+finish+`"`)); err != nil {
			t.Fatal(err)
		}
		end := streamed.Done()
		body, err := whole.Whole([]byte(`{"id":"1","choices":[{"message":{"content":"a",` + call +
			`},"finish_reason":"` + finish + `"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		for form, said := range map[string][]byte{"stream": end, "whole": body} {
			for kind, status := range map[string]string{"message": "completed", "function_call": want} {
				if !bytes.Contains(said, []byte(`"status":"`+status+`","type":"`+kind+`"`)) {
					t.Errorf("%s, %s: no %s that is %s in %s", finish, form, kind, status, said)
				}
			}
		}
	}
}
