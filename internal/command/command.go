// Package command runs programs of an operator's: without a shell, in a process group of their own that is killed as a
// whole, and with bounds on their time and on what they say.
package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// ErrTooMuch is a program that has said more than it may.
var ErrTooMuch = errors.New("command: it says too much")

// lastBreath is how long a killed program's children may hold its output open.
const lastBreath = time.Second

// path is where programs look for others.
const path = "PATH=/usr/local/bin:/usr/bin:/bin"

// Command is a program and its words.
type Command struct {
	Argv  []string
	Env   []string // beside a PATH
	Input []byte   // what it reads
	Most  int      // bytes of output; beyond, it is killed
}

// Run runs the program until it ends or ctx does, which kills it and its children. It returns what the program wrote to
// its standard output; ErrTooMuch, or how it ended.
func (c Command) Run(ctx context.Context) ([]byte, error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Env = append([]string{path}, c.Env...)
	cmd.Stdin = bytes.NewReader(c.Input)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // its children too
	cmd.WaitDelay = lastBreath
	out := &bounded{most: c.Most, end: cmd.Cancel}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case out.over:
		return nil, ErrTooMuch
	case err != nil:
		return nil, fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	return out.said.Bytes(), nil
}

// bounded keeps so many bytes, and ends a process that writes more.
type bounded struct {
	said bytes.Buffer
	most int
	over bool
	end  func() error
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.said.Len()+len(p) > b.most {
		b.over = true
		_ = b.end() // it may have ended by itself
		return 0, ErrTooMuch
	}
	return b.said.Write(p)
}
