package judge

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"octet/calibration"
)

// command runs a program for each question, which it reads from its standard input.
type command struct{ argv []string }

// Command returns a judge that is a program. It gets no environment but a PATH, and each question its own process.
func Command(argv []string, timeout time.Duration) (*Judge, error) {
	if len(argv) == 0 || timeout <= 0 {
		return nil, fmt.Errorf("judge: %d words of command, %v", len(argv), timeout)
	}
	return &Judge{command{argv}, timeout}, nil
}

// lastBreath is how long a killed program's children may hold its output open.
const lastBreath = time.Second

func (c command) ask(ctx context.Context, question []byte) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.Stdin = bytes.NewReader(question)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its children too
	cmd.WaitDelay = lastBreath
	out := &bounded{end: cmd.Cancel}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case out.over:
		return nil, errTooMuch
	case err != nil:
		return nil, fmt.Errorf("judge: %s: %w", c.argv[0], err)
	}
	return out.said.Bytes(), nil
}

// bounded keeps maxVerdict bytes, and ends a process that writes more.
type bounded struct {
	said bytes.Buffer
	over bool
	end  func() error
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.said.Len()+len(p) > maxVerdict {
		b.over = true
		_ = b.end() // it may have ended by itself
		return 0, calibration.ErrJudgeLied
	}
	return b.said.Write(p)
}
