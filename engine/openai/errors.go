package openai

import (
	"errors"

	"octet/engine"
	"octet/internal/http1/client"
)

// ErrConfig means that a Config cannot be served.
var ErrConfig = errors.New("openai: unusable configuration")

// ErrRequest means that a request cannot be put on the wire as it is. Nothing was sent.
var ErrRequest = errors.New("openai: request cannot be sent")

// faults are the transport's errors, and what the gateway knows them as.
var faults = [...]struct {
	of, is error
	room   string // that the text begins with
}{
	{client.ErrConnect, engine.ErrConnect, "engine: "},
	{client.ErrLocal, engine.ErrLocal, "engine: "},
	{client.ErrReset, engine.ErrReset, "engine: "},
	{client.ErrProtocol, engine.ErrProtocol, "engine: "},
	{client.ErrTimeout, engine.ErrTimeout, "engine: "},
	{client.ErrTooLarge, engine.ErrTooLarge, "engine: "},
	{client.ErrConfig, ErrConfig, "openai: "},
	{client.ErrRequest, ErrRequest, "openai: "},
}

// faulty is an error of the transport that is one of the gateway's.
type faulty struct {
	cause error
	is    error
	room  string
}

func (f *faulty) Error() string        { return f.room + f.cause.Error() }
func (f *faulty) Is(target error) bool { return target == f.is }
func (f *faulty) Unwrap() error        { return f.cause }

// fault makes an error of the gateway's of one of the transport's. Others, such as the end of a context, stay as they
// are.
func fault(err error) error {
	for _, f := range faults {
		if errors.Is(err, f.of) {
			return &faulty{cause: err, is: f.is, room: f.room}
		}
	}
	return err
}
