package command

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program gets its words as they are, no shell, and no environment but a PATH and what it is given.
func TestAProgramRunsWithoutAShell(t *testing.T) {
	t.Setenv("SECRET", "x")
	const given = "OCTET_SPECIALIST=debug"
	said, err := Command{Argv: []string{"/usr/bin/env"}, Env: []string{given}, Most: 1 << 12}.Run(t.Context())
	if err != nil || strings.Contains(string(said), "SECRET") || !strings.Contains(string(said), given) {
		t.Errorf("%v: %s", err, said)
	}
	said, err = Command{Argv: []string{"/bin/echo", "$HOME; a b", "`id`"}, Most: 1 << 12}.Run(t.Context())
	if err != nil || string(said) != "$HOME; a b `id`\n" {
		t.Errorf("%v: %q", err, said)
	}
	if _, err = (Command{Argv: []string{"/bin/false"}, Most: 10}).Run(t.Context()); err == nil {
		t.Error("a failure is none")
	}
	_, err = Command{Argv: []string{"/no/such/program"}, Most: 10}.Run(t.Context())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// A program that hangs is killed with its children, and one that says too much too.
func TestAProgramThatHangsIsKilledWithItsChildren(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := Command{Argv: []string{"/bin/sh", "-c", "sleep 60 & echo $! >" + pids + "; wait"}, Most: 10}.Run(ctx)
	if err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if syscall.Kill(child, 0) != nil {
			break
		}
		if state, _ := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat"); strings.Contains(string(state), ") Z ") {
			break // dead, and not collected by its new parent yet
		}
		time.Sleep(20 * time.Millisecond) // real time: a killed process takes its time
	}
	state, _ := os.ReadFile("/proc/" + strconv.Itoa(child) + "/stat")
	if syscall.Kill(child, 0) == nil && !strings.Contains(string(state), ") Z ") {
		t.Error("its child lives on")
	}
	if _, err := (Command{Argv: []string{"/usr/bin/yes"}, Most: 1 << 10}).Run(t.Context()); !errors.Is(err,
		ErrTooMuch) {
		t.Errorf("got %v", err)
	}
}
