// Package messages is the door /v1/messages: Anthropic's Messages, translated to and from chat completions.
//
//	system, messages, tools, …  ──▶ messages, tools, …         chat.go turns.go blocks.go tools.go
//	chunks  ──▶ message_start, content_block_…, message_stop   events.go   one block open at a time
//	a completion  ──▶ a message                                whole.go
//	an error  ──▶ {"type":"error", …}                          errors.go
//
// What has no counterpart is refused. cache_control is accepted: engines cache every prefix that they computed.
package messages

import (
	"octet/engine"
	"octet/gateway/doors"
)

// Where clients send Messages, and what is to be counted alone.
const (
	Path      = engine.MessagesPath
	CountPath = Path + "/count_tokens"
)

// Door is the door of Messages.
type Door struct {
	Counts bool // the prompt is counted alone, so that max_tokens may be missing
}

var _ doors.Door = Door{}

// Served implements doors.Door.
func (Door) Served() engine.Doors { return engine.Messages }
