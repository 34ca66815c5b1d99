package load

import (
	"fmt"
	"strings"
)

// tool is one of what agents send with every request: 500 bytes.
func tool(i int) string {
	frame := fmt.Sprintf(`{"type":"function","function":{"name":"tool_%02d","description":"%%s","parameters":`+
		`{"type":"object","properties":{"path":{"type":"string","description":"Path of the file, from the root."},`+
		`"from":{"type":"integer"},"limit":{"type":"integer"}},"required":["path"]}}}`, i)
	return fmt.Sprintf(frame, strings.Repeat("Reads lines of a file. ", 22)[:500-len(frame)+len("%s")])
}

// tools is how many tools an agent sends.
const tools = 40

// Tools returns chats of 2 KiB with 40 tools of 500 bytes; spaced has white space between their parts.
func Tools(model string, spaced bool) [][]byte {
	list := make([]string, tools)
	for i := range list {
		list[i] = tool(i)
	}
	all := strings.Join(list, ",")
	if spaced {
		all = strings.NewReplacer(`":`, `": `, `,"`, `, "`, `},{`, `}, {`).Replace(all)
	}
	return toolless(model, 2<<10, `,"tools":[`+all+`]`)
}

// ToolText returns chats whose text has as many bytes as those of Tools.
func ToolText(model string) [][]byte { return toolless(model, 2<<10+tools*501+len(`,"tools":[]`), "") }

// toolless returns chats of size bytes with more members.
func toolless(model string, size int, more string) [][]byte {
	all := make([][]byte, variants)
	for i := range all {
		all[i] = post(chatPath, strings.TrimSuffix(chatBody(model, size, false, i), "}")+more+"}")
	}
	return all
}

// Usage returns chats that are streamed and say when they want to know their usage: not at all, at the end, or with
// every event.
func Usage(model, options string) [][]byte {
	all := make([][]byte, variants)
	for i := range all {
		body := strings.TrimSuffix(chatBody(model, 1<<10, true, i), "}")
		if options != "" {
			body += `,"stream_options":` + options
		}
		all[i] = post(chatPath, body+"}")
	}
	return all
}

// Messages returns what Chat does in the words of Messages.
func Messages(model string, size int, stream bool) [][]byte {
	return atDoor("/v1/messages", size, stream, `{"model":"`+model+`","stream":%t,"max_tokens":%d,`+
		`"system":[{"type":"text","text":"%s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text",`+
		`"text":"%s"}]}]}`)
}

// Responses returns what Chat does in the words of Responses.
func Responses(model string, size int, stream bool) [][]byte {
	return atDoor("/v1/responses", size, stream, `{"model":"`+model+`","stream":%t,"store":false,`+
		`"max_output_tokens":%d,"instructions":"%s","input":[{"role":"user","content":[{"type":"input_text","text":"%s"}]}]}`)
}

func atDoor(path string, size int, stream bool, frame string) [][]byte {
	all := make([][]byte, variants)
	room := max(size-len(frame), 2)
	for i := range all {
		all[i] = post(path, fmt.Sprintf(frame, stream, most(stream), text(room/2, "common"),
			text(room-room/2, fmt.Sprint("variant ", i))))
	}
	return all
}
