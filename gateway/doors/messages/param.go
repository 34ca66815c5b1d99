package messages

import (
	"fmt"
	"math"
	"strings"

	"octet/gateway/doors"
)

// params are the members that become one of another name in a chat completion, by that name.
var params = map[string]string{
	"stop": names[stop], "user": "metadata.user_id", "prompt_cache_key": "metadata.user_id",
	"parallel_tool_calls": names[toolChoice], "reasoning_effort": names[thinking],
	"response_format": "output_config.format", "stream_options": names[stream],
}

// Param implements doors.Door.
func (d Door) Param(body []byte, path string) string {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	if name, renamed := params[path[:end]]; renamed {
		return name
	}
	at, within := doors.MessageAt(path)
	if !within || body == nil {
		return path
	}
	var c chat
	_, err := c.rewrite(d, nil, body, math.MaxInt)
	of, some := c.Origin(at)
	switch {
	case err != nil || !some:
		return path
	case of < 0:
		return names[system]
	}
	return fmt.Sprintf("%s[%d].content", names[messages], of)
}
