package judge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"octet/internal/command"
)

// program runs one for each question, which it reads from its standard input.
type program struct{ argv []string }

// Command returns a judge that is a program. It gets no environment but a PATH, and each question its own process.
func Command(argv []string, timeout time.Duration) (*Judge, error) {
	if len(argv) == 0 || timeout <= 0 {
		return nil, fmt.Errorf("judge: %d words of command, %v", len(argv), timeout)
	}
	return &Judge{program{argv}, timeout}, nil
}

func (c program) ask(ctx context.Context, question []byte) ([]byte, error) {
	said, err := command.Command{Argv: c.argv, Input: question, Most: maxVerdict}.Run(ctx)
	switch {
	case errors.Is(err, command.ErrTooMuch):
		return nil, errTooMuch
	case err != nil:
		return nil, fmt.Errorf("judge: %w", err)
	}
	return said, nil
}
