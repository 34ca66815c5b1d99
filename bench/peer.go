package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"octet/bench/usage"
)

// kind is a gateway that can be run: how its process is started, or why it cannot be.
type kind struct {
	name    string
	missing string      // why it cannot run; empty if it can
	client  *tls.Config // of those that ask it; nil asks in plain HTTP
	command func(dir, listen string, engine string) ([]string, error)
}

// peer is a gateway that runs, pinned to the gateways' core.
type peer struct {
	kind
	addr   string
	dir    string // its configuration and log
	cmd    *exec.Cmd
	family []int // its process and its workers
}

// start runs k before engine and waits until it accepts connections.
func start(k kind, dir, core, engine string) (*peer, error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, fmt.Sprintf("%s-%s", strings.ReplaceAll(k.name, "/", "-"),
		addr[strings.LastIndex(addr, ":")+1:]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	args, err := k.command(dir, addr, engine)
	if err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command("taskset", append([]string{"-c", core}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+libraries())
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", k.name, err)
	}
	p := &peer{kind: k, addr: addr, dir: dir, cmd: cmd}
	if err := p.awaitReady(10 * time.Second); err != nil {
		p.stop()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%s: %w; it said: %.2000s", k.name, err, said)
	}
	p.family = usage.Family(cmd.Process.Pid)
	return p, nil
}

func (p *peer) awaitReady(patience time.Duration) error {
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", p.addr)
		if err == nil {
			_ = c.Close()
			time.Sleep(300 * time.Millisecond) // workers, first probes
			return nil
		}
		if time.Now().After(until) {
			return err
		}
	}
}

func (p *peer) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	stopKilling := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	defer stopKilling()
	_ = p.cmd.Wait() // how it went is of no interest
}

// freePort returns an address of the loopback at which nothing listens.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func writeFile(path, text string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
