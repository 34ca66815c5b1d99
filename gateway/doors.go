package gateway

import (
	"octet/gateway/doors"
	"octet/gateway/doors/messages"
)

// doorsByPath are the surfaces beside OpenAI's chat completions that clients may speak.
var doorsByPath = map[string]doors.Door{
	messages.Path: messages.Door{},
}
