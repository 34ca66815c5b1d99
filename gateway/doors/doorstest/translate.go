package doorstest

import (
	"octet/gateway/doors"
	"octet/gateway/wire"
)

// Translate returns the chat completion that a body asks for by a door, and what translates its answer.
func Translate(door doors.Door, body string) ([]byte, doors.Answer, error) {
	tape, err := wire.NewTape([]byte(body), 64)
	if err != nil {
		return nil, nil, err
	}
	return door.Chat(nil, tape)
}
