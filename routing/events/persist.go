package events

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrPanic is wrapped by what Guard makes of a panic; its text has the stack.
var ErrPanic = errors.New("events: panic")

// Guard calls f and returns a panic of it as an error.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, r, debug.Stack())
		}
	}()
	return f()
}

// Persist calls consume, which is to return when ctx ends. A panic ends what consume had open, is noted in m, and
// consume begins again after a pause. It returns what consume returned, which is noted in m as well, or ctx.Err().
func Persist(ctx context.Context, m *Meter, consume func() error) error {
	for wait := NewBackoff(); ; wait.Pause(ctx) {
		err := Guard(consume)
		if !errors.Is(err, ErrPanic) {
			if err != nil && ctx.Err() == nil {
				m.Failed(err)
			}
			return err
		}
		m.Panicked(err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
