package messages

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/sse"
)

// gathered is the pieces of the calls of a stream that comes in pieces of size bytes, one string an index.
func gathered(t *testing.T, stream string, size int) map[int]string {
	t.Helper()
	all := map[int]string{}
	s := new(sse.Scanner)
	s.Reset(sse.Options{Dialect: doors.NativeOf(new(Answer)), Calls: func(p sse.Call) {
		if len(p.Name) > 0 {
			all[p.Index] += fmt.Sprintf("%s %s ", p.ID, p.Name)
		}
		all[p.Index] += string(p.Arguments)
	}})
	for len(stream) > 0 {
		n := min(size, len(stream))
		if _, err := s.Feed([]byte(stream[:n])); err != nil {
			t.Fatal(err)
		}
		stream = stream[n:]
	}
	return all
}

func blockEvent(of string, index int, members string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":\"%s\",\"index\":%d%s}\n\n", of, of, index, members)
}

func opened(index int, block string) string {
	return blockEvent("content_block_start", index, `,"content_block":{`+block+`}`)
}

func argument(index int, piece string) string {
	return blockEvent("content_block_delta", index, `,"delta":{"type":"input_json_delta","partial_json":"`+piece+`"}`)
}

// The calls of an engine that speaks Messages are told with each piece, those that are like the last one too.
func TestNativeCallsAreTold(t *testing.T) {
	stream := startedWell + piece1 + blockEvent("content_block_stop", 0, "") +
		opened(1, `"type":"tool_use","id":"a","name":"read","input":{}`) + argument(1, "") + argument(1, `{\"pa`) +
		argument(1, `th\":`) + argument(1, `\"x\"}`) + blockEvent("content_block_stop", 1, "") +
		opened(2, `"type":"tool_use","id":"b","name":"list","input":{"a": [1]}`) +
		blockEvent("content_block_stop", 2, "") + endedWell
	want := map[int]string{1: `a read {\"path\":\"x\"}`, 2: `b list {"a": [1]}`}
	for _, size := range []int{1, 2, 3, 50, 1000, len(stream)} {
		if got := gathered(t, stream, size); !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces of %d: %v", size, got)
		}
	}
	if got := gathered(t, strings.ReplaceAll(stream, "tool_use", "server_tool_use"), 100); len(got[2]) > 0 {
		t.Errorf("of tools that the engine runs: %v", got)
	}
}

func TestNativeCallsOfAWholeMessageAreRead(t *testing.T) {
	u, err := doors.NativeOf(new(Answer)).ReadWhole([]byte(`{"type":"message","id":"m","content":[{"type":"text",` +
		`"text":"so"},{"type":"tool_use","id":"a","name":"read","input":{"path":"x"}},{"type":"tool_use","id":"b",` +
		`"name":"list","input":{}},{"id":"no"}],"stop_reason":"tool_use"}`))
	if err != nil || string(u.Text) != "so" || len(u.Calls) != 2 || string(u.Calls[0].Arguments) != `{"path":"x"}` ||
		!u.Calls[0].Value || string(u.Calls[1].Name) != "list" || u.Calls[1].Index != 1 || u.Finish != "tool_calls" {
		t.Errorf("%+v, %v", u, err)
	}
}
