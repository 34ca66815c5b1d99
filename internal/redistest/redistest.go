// Package redistest runs a redis-server of a test's own: on loopback, on a free port, in a directory of the test.
package redistest

import (
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	startWait  = 10 * time.Second      // for a server to answer
	startTries = 5                     // of starting one; another process may take the port meanwhile
	poll       = 10 * time.Millisecond // between two tries to reach it
)

// Server is one redis-server. Its methods are for the test's goroutine.
type Server struct {
	Addr string // host:port; stays the same across restarts

	t       testing.TB
	port    string
	dir     string
	process *exec.Cmd // nil while it is down
	extra   []string
}

// Start runs a redis-server until the test ends. It keeps nothing on disk, unless args say so (args are those of
// redis-server, say "--appendonly", "yes"); the test is skipped where the program is missing.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("SKIP-REDIS: redis-server not found")
	}
	s := &Server{t: t, dir: t.TempDir(), extra: args}
	t.Cleanup(s.Kill)
	for range startTries {
		s.choosePort()
		if s.run() == nil {
			return s
		}
	}
	t.Fatalf("redistest: no redis-server after %d tries", startTries)
	return nil
}

// Kill ends the server at once, as a crash would. A server that is down already stays so.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may have ended by itself
	_ = s.process.Wait()         // says that it was killed
	s.process = nil
}

// Restart kills the server if it runs, and runs it again on the same address: empty, or with what it kept on disk. What
// was in memory is kept as well when empty is false and the server can still be asked to save it.
func (s *Server) Restart(empty bool) {
	s.t.Helper()
	if empty {
		s.Kill()
		s.dir = s.t.TempDir()
	} else {
		s.save()
		s.Kill()
	}
	if err := s.run(); err != nil {
		s.t.Fatal(err)
	}
}

// Pause stops the server where it is, as a machine does that is out of breath: its connections stay, and it
// does not answer. Resume lets it go on.
func (s *Server) Pause() { s.signal(syscall.SIGSTOP) }

// Resume ends a Pause.
func (s *Server) Resume() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.process.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// Do sends one command, words without spaces, and returns the first line of the answer.
func (s *Server) Do(words ...string) (string, error) {
	answer, err := s.ask(words...)
	line, _, _ := strings.Cut(answer, "\r\n")
	return line, err
}

// ask returns the beginning of the answer.
func (s *Server) ask(words ...string) (string, error) {
	c, err := net.DialTimeout("tcp", s.Addr, startWait)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // the answer has been read
	if err := c.SetDeadline(time.Now().Add(startWait)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(c, "%s\r\n", strings.Join(words, " ")); err != nil {
		return "", err
	}
	answer := make([]byte, 4096)
	n, err := c.Read(answer)
	return string(answer[:n]), err
}

func (s *Server) choosePort() {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.Addr = l.Addr().String()
	_, s.port, _ = net.SplitHostPort(s.Addr)
	_ = l.Close() // it never accepted
}

// run starts the process and waits until it answers.
func (s *Server) run() error {
	args := append([]string{"--port", s.port, "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly",
		"no"}, s.extra...)
	s.process = exec.Command("redis-server", args...)
	if err := s.process.Start(); err != nil {
		s.process = nil
		return fmt.Errorf("redistest: %w", err)
	}
	//nolint:forbidigo // a real process starts
	for end := time.Now().Add(startWait); time.Now().Before(end); time.Sleep(poll) {
		if s.answers() {
			return nil
		}
	}
	s.Kill()
	return fmt.Errorf("redistest: redis-server on %s does not answer", s.Addr)
}

// answers reports whether our process listens, and not one that took the port before it: ours lives in our directory.
// One that asks for a password is believed.
func (s *Server) answers() bool {
	answer, err := s.ask("CONFIG", "GET", "dir")
	return err == nil && (strings.Contains(answer, s.dir) || strings.HasPrefix(answer, "-NOAUTH"))
}

// save writes what is in memory to disk, if the server is up.
func (s *Server) save() {
	if s.process != nil {
		_, _ = s.Do("SAVE") // down or busy: it restarts with what it has
	}
}
