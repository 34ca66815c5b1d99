package apptest

import (
	"fmt"
	"strings"
)

// Shapes returns requests that say the same in different ways, by the way; each begins differently, so that none meets
// another's blocks.
func Shapes(long string) map[string]string {
	return map[string]string{
		"parts": fmt.Sprintf(
			`{"model":"systems","max_tokens":2,"messages":[{"role":"user","content":[`+
				`{"type":"text","text":"parts"},{"type":"text","text":%q},`+
				`{"type":"text","text":"and"},{"type":"text","text":"more"}]}]}`,
			long),
		"escapes": fmt.Sprintf(`{"model":"systems","max_tokens":2,"messages":[{"role":"user","content":%q}]}`,
			"escapes"+long+"\n\t\"ü\" \\ 漢字"),
		"tool": fmt.Sprintf(
			`{"model":"systems","max_tokens":2,"messages":[{"role":"system","content":"tool %s"},`+
				`{"role":"user","content":"x"},`+
				`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",`+
				`"function":{"name":"f","arguments":"{}"}}]},`+
				`{"role":"tool","tool_call_id":"a","content":"ok"}]}`,
			long),
		"salt": fmt.Sprintf(
			`{"model":"systems","max_tokens":2,"cache_salt":"pepper","messages":[{"role":"user","content":%q}]}`,
			"salt"+long),
		"prompt": `{"model":"systems","max_tokens":2,"prompt":"` + long + `"}`,
		"tokens": `{"model":"systems","max_tokens":2,"prompt":[` + strings.TrimSuffix(strings.Repeat("7,8,9,", 30),
			",") + `]}`,
	}
}

// Between returns the text between from and to, up to a comma.
func Between(s, from, to string) string {
	_, rest, _ := strings.Cut(s, from)
	value, _, _ := strings.Cut(rest, to)
	value, _, _ = strings.Cut(value, ",")
	return value
}
