package app_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkTools is what a chat with 40 tools of 500 bytes costs the gateway, beside one whose system's message has as
// many bytes of text. spaced writes tools as Python's json does.
func BenchmarkTools(b *testing.B) {
	const frame = `{"model":"template","stream":true,"max_tokens":16,"messages":[{"role":"system","content":"%s"},` +
		`{"role":"user","content":"00000000why?"}]%s}`
	tools := make([]string, 40)
	for i := range tools {
		tools[i] = benchTool(i)
	}
	list := `,"tools":[` + strings.Join(tools, ",") + `]`
	spaced := strings.NewReplacer(`":`, `": `, `,"`, `, "`, `},{`, `}, {`).Replace(list)
	for _, row := range []struct{ name, body string }{
		{"text", fmt.Sprintf(frame, strings.Repeat("x", len(list)), "")},
		{"tools", fmt.Sprintf(frame, "", list)}, {"spaced", fmt.Sprintf(frame, "", spaced)},
	} {
		b.Run(row.name, func(b *testing.B) { benchComplete(b, []byte(row.body), true) })
	}
}

// benchTool is a tool of 500 bytes.
func benchTool(i int) string {
	tool := fmt.Sprintf(`{"type":"function","function":{"name":"tool_%02d","description":"%%s","parameters":`+
		`{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, from the root."},`+
		`"from":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}}}`, i)
	return fmt.Sprintf(tool, strings.Repeat("Reads lines of a file. ", 22)[:500-len(tool)+len("%s")])
}
