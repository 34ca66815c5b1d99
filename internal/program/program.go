// Package program runs the real binary as a process of its own, for tests and soaks that talk to it from outside.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// Program is a process that was started. Its output is kept whole.
type Program struct {
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has exited
	err    error         // of the exit; written before ended is closed
	mu     sync.Mutex
	output bytes.Buffer // standard output and standard error; guarded by mu
}

// Build compiles the module's main package to path, without the layout by its profile, which takes most of a build.
func Build(ctx context.Context, path string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-pgo=off", "-o", path, "octet").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building octet: %w: %s", err, out)
	}
	return nil
}

// Start runs the binary at path. The caller ends it by Kill or Stop.
func Start(path string, args ...string) (*Program, error) {
	p := &Program{cmd: exec.Command(path, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Write implements io.Writer for the output of the process.
func (p *Program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(b)
}

// Output returns what the process has written so far.
func (p *Program) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// Pid is the id of the process.
func (p *Program) Pid() int { return p.cmd.Process.Pid }

// Ended is closed when the process has exited.
func (p *Program) Ended() <-chan struct{} { return p.ended }

// Await returns the submatches of the first match of pattern in the output, or an error when the process exits or the
// time is over without one.
func (p *Program) Await(pattern string, within time.Duration) ([]string, error) {
	re := regexp.MustCompile(pattern)
	over := time.NewTimer(within)
	defer over.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		if m := re.FindStringSubmatch(p.Output()); m != nil {
			return m, nil
		}
		select {
		case <-look.C:
		case <-p.ended:
			if m := re.FindStringSubmatch(p.Output()); m != nil {
				return m, nil
			}
			return nil, fmt.Errorf("exited without writing %q:\n%s", pattern, p.Output())
		case <-over.C:
			return nil, fmt.Errorf("no %q within %v in the output:\n%s", pattern, within, p.Output())
		}
	}
}

// Kill ends the process by SIGKILL and waits for its end.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill() // fails only where it has ended already
	<-p.ended
}

// Signal sends a signal.
func (p *Program) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Stop sends SIGTERM and returns the exit code.
func (p *Program) Stop(within time.Duration) (int, error) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only where it has ended already
	return p.Code(within)
}

// Code waits for the end and returns the exit code, -1 for a process that a signal ended.
func (p *Program) Code(within time.Duration) (int, error) {
	select {
	case <-p.ended:
	case <-time.After(within):
		return 0, fmt.Errorf("still running after %v", within)
	}
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, p.err
}
