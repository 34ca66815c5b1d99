package load

import (
	"fmt"
	"strings"
)

// loop is an agent's request in the midst of its work: instructions, four tools, a question, and turns of a call of a
// tool and what it returned.
type loop struct {
	path, frame, tool, turn string
}

// chatLoop, messagesLoop and responsesLoop say the same.
var (
	chatLoop = loop{
		path: chatPath,
		frame: `{"model":"%s","max_tokens":16,"tools":[%s],"messages":[` +
			`{"role":"system","content":"You are an agent."},{"role":"user","content":"Why does it fail?"}%s]}`,
		tool: `{"type":"function","function":{"name":"tool_%d","description":"Reads lines of a file.",` +
			`"parameters":%s}}`,
		turn: `,{"role":"assistant","content":"I read it.","tool_calls":[{"id":"t%[1]d","type":"function",` +
			`"function":{"name":"tool_1","arguments":"{\"path\":\"routing/pick.go\",\"from\":%[1]d}"}}]},` +
			`{"role":"tool","tool_call_id":"t%[1]d","content":"%[2]s"}`,
	}
	messagesLoop = loop{
		path: "/v1/messages",
		frame: `{"model":"%s","max_tokens":16,"tools":[%s],"system":[{"type":"text","text":"You are an agent.",` +
			`"cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"Why does it fail?"}%s]}`,
		tool: `{"name":"tool_%d","description":"Reads lines of a file.","input_schema":%s}`,
		turn: `,{"role":"assistant","content":[{"type":"text","text":"I read it."},{"type":"tool_use","id":"t%[1]d",` +
			`"name":"tool_1","input":{"path":"routing/pick.go","from":%[1]d}}]},{"role":"user","content":[` +
			`{"type":"tool_result","tool_use_id":"t%[1]d","content":[{"type":"text","text":"%[2]s"}]}]}`,
	}
	responsesLoop = loop{
		path: "/v1/responses",
		frame: `{"model":"%s","max_output_tokens":16,"store":false,"instructions":"You are an agent.","tools":[%s],` +
			`"input":[{"role":"user","content":"Why does it fail?"}%s]}`,
		tool: `{"type":"function","name":"tool_%d","description":"Reads lines of a file.","parameters":%s}`,
		turn: `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read it."}]},` +
			`{"type":"function_call","call_id":"t%[1]d","name":"tool_1",` +
			`"arguments":"{\"path\":\"routing/pick.go\",\"from\":%[1]d}"},` +
			`{"type":"function_call_output","call_id":"t%[1]d","output":"%[2]s"}`,
	}
)

// loopTurns are the turns of a loop, and loopResult the bytes that a tool returns: 16 KiB of Messages together.
const loopTurns, loopResult = 11, 1100

// Loops returns the requests of agents' loops, about 16 KiB of them, as chats.
func Loops(model string) [][]byte { return chatLoop.requests(model) }

// MessagesLoops returns what Loops does in the words of Messages.
func MessagesLoops(model string) [][]byte { return messagesLoop.requests(model) }

// ResponsesLoops returns what Loops does in the words of Responses.
func ResponsesLoops(model string) [][]byte { return responsesLoop.requests(model) }

// requests are those of variants; the first half of the turns is common to all.
func (l loop) requests(model string) [][]byte {
	const schema = `{"type":"object","properties":{"path":{"type":"string","description":"from the root"},` +
		`"from":{"type":"integer"}},"required":["path"]}`
	list := make([]string, 4)
	for i := range list {
		list[i] = fmt.Sprintf(l.tool, i, schema)
	}
	all := make([][]byte, variants)
	for i := range all {
		turns := ""
		for n := range loopTurns {
			mark := "common"
			if n > loopTurns/2 {
				mark = fmt.Sprint("variant ", i)
			}
			turns += fmt.Sprintf(l.turn, n, text(loopResult, mark))
		}
		all[i] = post(l.path, fmt.Sprintf(l.frame, model, strings.Join(list, ","), turns))
	}
	return all
}
