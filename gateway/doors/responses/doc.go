// Package responses is the door /v1/responses: OpenAI's Responses, stateless, translated to and from chat completions.
//
//	instructions, input, tools, …  ──▶ messages, tools, …            chat.go items.go tools.go
//	chunks  ──▶ response.created, …, response.completed | incomplete  events.go   one item open at a time
//	a completion  ──▶ a response                                      answer.go
//	an error  ──▶ OpenAI's error object, or one error event           errors.go
//
// What would need a state (store, previous_response_id, background) and what has no counterpart is refused.
package responses

import (
	"octet/engine"
	"octet/gateway/doors"
)

// Path is where clients send Responses.
const Path = engine.ResponsesPath

// Door is the door of Responses.
type Door struct{}

var _ doors.Door = Door{}

// Served implements doors.Door.
func (Door) Served() engine.Doors { return engine.Responses }
