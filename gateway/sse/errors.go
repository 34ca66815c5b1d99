package sse

import "errors"

// What ends a stream before its [DONE]. An error that the engine itself reports is an *EngineError.
var (
	ErrGarbage       = errors.New("sse: not an event of an OpenAI stream")
	ErrEventTooLarge = errors.New("sse: event over the limit")
)

// ErrAborted is an EngineError that says that the engine has given the answer up, and no more of it comes. vLLM does so
// with all that it has where it is stopped or put to sleep, in the form of a good end: the finish reason "abort".
var ErrAborted = errors.New("sse: the engine has given the answer up")

// aborted is the finish reason of an answer that its engine has given up.
const aborted = "abort"

// EngineError is an error object that came in place of a chunk or an answer. Fields that the engine left out are empty.
type EngineError struct {
	Message string
	Type    string
	Code    string // a number is spelt out
}

// Aborted returns the EngineError of an answer that its engine has given up.
func Aborted() *EngineError { return &EngineError{Message: "the answer was aborted", Type: aborted} }

// Is implements the interface of errors.Is for ErrAborted.
func (e *EngineError) Is(target error) bool { return target == ErrAborted && e.Type == aborted }

func (e *EngineError) Error() string {
	if e.Message == "" {
		return "sse: the engine reports an error"
	}
	return "sse: the engine reports: " + e.Message
}
