package sse

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// FuzzToolCalls holds the calls of an answer in one piece to be as many as decode from it, and of whole strings.
func FuzzToolCalls(f *testing.F) {
	for _, calls := range []string{
		`[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`,
		`[{"index":7,"function":{"name":"f","arguments":"{"}},{"index":-1,"function":{"arguments":"}"}}]`,
		`[1,"a",null,{"function":3},{"index":"x"},[{}],{"function":{"name":null,"arguments":null}}]`,
		`[{"function":{"name":"f","arguments":{"a":[1]}}},{"custom":{"name":"p","input":"x"}}]`,
		`[]`, `{}`, `null`, `"x"`, `[{`,
	} {
		f.Add(calls)
	}
	f.Fuzz(func(t *testing.T, calls string) {
		body := []byte(`{"choices":[{"index":0,"message":{"tool_calls":` + calls + `}}]}`)
		var got []Call
		Calls(body, func(c Call) { got = append(got, c) })
		var list []any
		if json.Unmarshal([]byte(calls), &list) != nil || strings.Contains(calls, "tool_calls") {
			return // of another form, which must not crash
		}
		if len(got) != len(list) {
			t.Fatalf("%d calls, %d decode, of %s", len(got), len(list), body)
		}
		for i := range got {
			if !json.Valid(fmt.Appendf(nil, `"%s%s%s"`, got[i].ID, got[i].Name, quotedOf(got[i]))) {
				t.Fatalf("call %d is %+v", i, got[i])
			}
		}
	})
}

// quotedOf returns the arguments of a call as the inside of a string.
func quotedOf(c Call) []byte {
	if !c.Value {
		return c.Arguments
	}
	text, _ := json.Marshal(string(c.Arguments))
	return text[1 : len(text)-1]
}
