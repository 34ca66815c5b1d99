package sse

import "errors"

// What ends a stream before its [DONE]. An error that the engine itself reports is an *EngineError.
var (
	ErrGarbage       = errors.New("sse: not an event of an OpenAI stream")
	ErrEventTooLarge = errors.New("sse: event over the limit")
)

// EngineError is an error object that came in place of a chunk or an answer. Fields that the engine left out are empty.
type EngineError struct {
	Message string
	Type    string
	Code    string // a number is spelt out
}

func (e *EngineError) Error() string {
	if e.Message == "" {
		return "sse: the engine reports an error"
	}
	return "sse: the engine reports: " + e.Message
}
