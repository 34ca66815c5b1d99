package messages

import (
	"fmt"
	"strings"

	"octet/gateway/doors"
	"octet/gateway/wire"
)

// params are the members that become one of another name in a chat completion, by that name.
var params = map[string]string{
	"stop": names[stop], "user": "metadata.user_id", "prompt_cache_key": "metadata.user_id",
	"parallel_tool_calls": names[toolChoice], "reasoning_effort": names[thinking],
	"response_format": "output_config.format", "stream_options": names[stream],
}

// Param implements doors.Door.
func (d Door) Param(body *wire.Tape, chat string) string {
	end := strings.IndexAny(chat, ".[")
	if end < 0 {
		end = len(chat)
	}
	if name, renamed := params[chat[:end]]; renamed {
		return name
	}
	at, within := doors.MessageAt(chat)
	if !within || body == nil {
		return chat
	}
	c, err := d.rewrite(nil, body)
	switch {
	case err != nil || at >= len(c.Origin):
		return chat
	case c.Origin[at] < 0:
		return names[system]
	}
	return fmt.Sprintf("%s[%d].content", names[messages], c.Origin[at])
}

// rewrite returns what a body became, without its last brace.
func (d Door) rewrite(dst []byte, body *wire.Tape) (chat, error) {
	c := chat{Draft: doors.Draft{Out: append(dst, '{')}, counts: d.Counts, at: -1}
	v, err := doors.Body(body)
	if err != nil {
		return c, err
	}
	var m [members]doors.Value
	if err := v.Members(names[:], m[:]); err != nil {
		return c, err
	}
	return c, c.write(&m)
}
