package stream

import "fmt"

// What an engine's body is fed to is the Relay, by a name for each state that it is in.
type (
	opening    Relay // takes one piece
	relaying   Relay // on a goroutine, until the stream ends or can be parked
	parked     Relay // on a poll loop: it does not wait
	collecting Relay // keeps an answer in one piece
)

// Take implements engine.Sink.
func (o *opening) Take(piece []byte) (more bool, err error) {
	_, err = (*Relay)(o).take(piece)
	return false, err
}

// Pause implements engine.Sink.
func (*opening) Pause() (more bool, err error) { return true, nil }

// Take implements engine.Sink.
func (s *relaying) Take(piece []byte) (more bool, err error) { return (*Relay)(s).take(piece) }

// Pause implements engine.Sink.
func (s *relaying) Pause() (more bool, err error) { return (*Relay)(s).flush() }

// Take implements engine.Sink.
func (p *parked) Take(piece []byte) (more bool, err error) { return (*Relay)(p).take(piece) }

// Pause implements engine.Sink.
func (p *parked) Pause() (more bool, err error) { return true, (*Relay)(p).tryFlush() }

// Take implements engine.Sink.
func (c *collecting) Take(piece []byte) (more bool, err error) {
	if int64(len(*c.body)+len(piece)) > c.ResponseBytes {
		return false, fmt.Errorf("%w has more than %d bytes", ErrLongAnswer, c.ResponseBytes)
	}
	*c.body = append(*c.body, piece...)
	return true, nil
}

// Pause implements engine.Sink.
func (*collecting) Pause() (more bool, err error) { return true, nil }
