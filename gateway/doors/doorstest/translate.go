package doorstest

import "octet/gateway/doors"

// Translate returns the chat completion that a body asks for by a door, and what translates its answer.
func Translate(door doors.Door, body string) ([]byte, doors.Answer, error) {
	chat, err := door.Chat(nil, []byte(body), 64)
	return chat.Body, chat.Answer, err
}
