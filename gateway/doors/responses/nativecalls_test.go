package responses

import (
	"fmt"
	"reflect"
	"testing"

	"octet/gateway/doors"
	"octet/gateway/sse"
)

// The calls of an engine that speaks Responses are told with each piece, those that are like the last one too; or with
// the item that is whole, if no piece came.
func TestNativeCallsAreTold(t *testing.T) {
	argument := func(index int, piece string, n int) string {
		return nativeLine("response.function_call_arguments.delta",
			fmt.Sprintf(`"delta":%q,"item_id":"i","output_index":%d,`, piece, index), n)
	}
	item := func(of string, index int, members string, n int) string {
		return nativeLine("response.output_item."+of,
			fmt.Sprintf(`"item":{"type":"function_call",%s},"output_index":%d,`,
				members, index), n)
	}
	stream := nativeLine("response.created", `"response":{"id":"r","model":"m","output":[]},`, 0) +
		item("added", 0, `"id":"i","call_id":"a","name":"read","arguments":""`, 1) + argument(0, `{"pa`, 2) +
		argument(0, `th":`, 3) + argument(0, `"x"}`, 4) +
		nativeLine("response.function_call_arguments.done", `"arguments":"{\"path\":\"x\"}","output_index":0,`, 5) +
		item("done", 0, `"id":"i","call_id":"a","name":"read","arguments":"{\"path\":\"x\"}"`, 6) +
		item("added", 1, `"id":"k","call_id":"b","name":"list","arguments":""`, 7) +
		item("done", 1, `"id":"k","call_id":"b","name":"list","arguments":"{}"`, 8) +
		nativeLine("response.completed", `"response":{"status":"completed","output":[]},`, 9)
	want := map[int]string{0: `a read {\"path\":\"x\"}`, 1: `b list {}`}
	for _, size := range []int{1, 2, 3, 50, 1000, len(stream)} {
		all := map[int]string{}
		s := new(sse.Scanner)
		s.Reset(sse.Options{Dialect: doors.NativeOf(&Answer{}), Calls: func(p sse.Call) {
			if len(p.Name) > 0 {
				all[p.Index] += fmt.Sprintf("%s %s ", p.ID, p.Name)
			}
			all[p.Index] += string(p.Arguments)
		}})
		for rest := stream; len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := s.Feed([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if !reflect.DeepEqual(all, want) {
			t.Errorf("in pieces of %d: %v", size, all)
		}
	}
}

func TestNativeCallsOfAWholeResponseAreRead(t *testing.T) {
	u, err := doors.NativeOf(&Answer{}).ReadWhole(
		[]byte(`{"status":"completed","output":[{"type":"message","content":` +
			`[{"text":"so"}]},{"type":"function_call","call_id":"a","name":"read","arguments":"{\"path\":\"x\"}"},` +
			`{"type":"function_call","call_id":"b","name":"list","arguments":"{}"}]}`))
	if err != nil || string(u.Text) != "so" || len(u.Calls) != 2 || u.Calls[1].Index != 1 ||
		string(u.Calls[0].Arguments) != `{\"path\":\"x\"}` || u.Calls[0].Value || string(u.Calls[1].ID) != "b" {
		t.Errorf("%+v, %v", u, err)
	}
}
