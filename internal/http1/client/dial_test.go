//go:build linux

package client

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// deaf returns the address of a listener whose queue is full: dialling it waits.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err = errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
		syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: name.(*syscall.SockaddrInet4).Port}
	for {
		c, err := net.DialTimeout("tcp", addr.String(), 200*time.Millisecond)
		if err != nil {
			return addr.String()
		}
		t.Cleanup(func() { _ = c.Close() })
	}
}

// B3: the dialer has a timer of its own for a client's deadline, which fires before the context ends. That says nothing
// of the replica.
func TestManyShortDeadlinesDuringDialsBlameNoReplica(t *testing.T) {
	c := dialUp(t, Config{URL: "http://" + deaf(t)})
	var all sync.WaitGroup
	for i := range 400 {
		all.Go(func() {
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Duration(1+i%20)*time.Millisecond,
				context.DeadlineExceeded)
			defer cancel()
			_, err := c.Do(ctx, post("x"))
			if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrConnect) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	slow := dialUp(t, Config{URL: "http://" + deaf(t), DialTimeout: 20 * time.Millisecond})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := slow.Do(ctx, post("x")); !errors.Is(err, ErrConnect) {
		t.Errorf("a dial that takes too long, within the client's deadline: %v", err)
	}
}

// What this process or its host has run out of is no replica's fault, wherever it shows.
func TestAWantOfOurOwnIsNoReplicasFault(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS,
		syscall.ENOMEM} {
		wanting := func(context.Context) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", errno)}
		}
		c := dialUp(t, Config{URL: "http://h", Dial: wanting})
		if _, err := c.Do(t.Context(), post("x")); !errors.Is(err, ErrLocal) ||
			errors.Is(err, ErrConnect) {
			t.Errorf("%v at a dial: %v", errno, err)
		}
		for _, n := range []int64{0, 5} {
			if err := writeFailed(n, os.NewSyscallError("write", errno)); !errors.Is(err, ErrLocal) ||
				errors.Is(err, ErrReset) {
				t.Errorf("%v after %d bytes: %v", errno, n, err)
			}
		}
	}
}
