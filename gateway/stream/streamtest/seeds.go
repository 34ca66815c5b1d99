// Package streamtest has the streams that the tests of the relay, and of the gateway around it, begin with.
package streamtest

import "strings"

// Seeds are what engines send, well and badly. Fuzz tests join the pieces and cut them anew.
func Seeds() []string {
	chunk := func(choice string) string {
		return `data: {"id":"one","created":7,"choices":[{"index":0,` + choice + `}]}` + "\n\n"
	}
	text := chunk(`"delta":{"content":"a"}`)
	const done = "data: [DONE]\n\n"
	pieces := []string{
		"", text, strings.Repeat(text, 3), chunk(`"delta":{"role":"assistant","content":""}`),
		chunk(`"delta":{"content":"é\u00e9\""}`),
		chunk(`"delta":{"reasoning_content":"hm"}`), chunk(`"delta":{"tool_calls":[{"index":0}]}`),
		chunk(`"delta":{},"finish_reason":"stop"`),
		chunk(`"text":"x"`), `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}` + "\n\n",
		": ping\n\n", "\n\n", "event: error\n\n",
		"data: {\"error\":{\"message\":\"m\",\"code\":500}}\n\n", "data: {\"half\":", "data: oops\n\n", "\x00\xff\xfe",
		"<html>\n\n",
		strings.ReplaceAll(text, "\n", "\r\n"), "data: {\ndata: }\n\n", "data: {} {}\n\n",
		`data: {"id":{},"created":[],"choices":7,"usage":1}` + "\n\n",
		strings.Repeat("x", 5000), "data: " + strings.Repeat("[", 200) + "\n\n",
	}
	var all []string
	for _, p := range pieces {
		all = append(all, p, p+done, text+p+done)
	}
	return all
}
