package responses

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"octet/gateway/apierr"
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// AppendError implements doors.Door: Responses' errors are OpenAI's.
func (Door) AppendError(dst []byte, e *apierr.Error, requestID string) []byte {
	return e.AppendJSON(dst, requestID)
}

// Failure implements doors.Answer.
func (a *Answer) Failure(e *apierr.Error, requestID string) []byte {
	out := wire.AppendQuoted([]byte("event: error\ndata: {\"type\":\"error\",\"code\":"), string(e.Code))
	out = append(wire.AppendQuoted(append(out, `,"message":`...), e.Message), `,"param":`...)
	if e.Param == "" {
		out = append(out, "null"...)
	} else {
		out = wire.AppendQuoted(out, e.Param)
	}
	out = strconv.AppendInt(append(out, `,"sequence_number":`...), int64(a.sequence), 10)
	return append(wire.AppendQuoted(append(out, `,"request_id":`...), requestID), "}\n\n"...)
}

// params are the members that become one of another name in a chat completion, by that name.
var params = map[string]string{"max_tokens": names[maxOutput], "reasoning_effort": "reasoning.effort",
	"response_format": "text.format", "verbosity": "text.verbosity"}

// Param implements doors.Door.
func (Door) Param(body []byte, path string) string {
	end := strings.IndexAny(path, ".[")
	if end < 0 {
		end = len(path)
	}
	if name, renamed := params[path[:end]]; renamed {
		return name
	}
	if path == "messages" {
		return names[input]
	}
	at, within := doors.MessageAt(path)
	if !within || body == nil {
		return path
	}
	var c chat
	_, err := c.rewrite(nil, body, math.MaxInt)
	of, some := c.Origin(at)
	switch {
	case err != nil || !some:
		return path
	case of < 0:
		return names[instructions]
	case c.sent[input].Kind() == '"':
		return names[input]
	}
	return fmt.Sprintf("%s[%d]", names[input], of)
}
