package main

import (
	"bufio"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// machine is an engine that was started outside of this command.
type machine struct{ url, events, replay string }

// engines is a flag that may be repeated.
type engines []machine

// String implements flag.Value.
func (e *engines) String() string { return fmt.Sprint(*e) }

// Set implements flag.Value.
func (e *engines) Set(text string) error {
	parts := append(strings.Split(text, ","), "", "")
	if _, err := url.Parse(parts[0]); err != nil {
		return err
	}
	*e = append(*e, machine{parts[0], parts[1], parts[2]})
	return nil
}

// process is the one that listens at an engine's port. Its group ends with it: vLLM's core is a process of its own.
type process int

func (p process) kill() error {
	group, err := syscall.Getpgid(int(p))
	if err != nil {
		return err
	}
	if own, err := syscall.Getpgid(0); err != nil || own == group {
		return errors.Join(err, syscall.Kill(int(p), syscall.SIGKILL))
	}
	return syscall.Kill(-group, syscall.SIGKILL)
}

// listenerOf returns the process that listens where u points, on this machine.
func listenerOf(u string) (process, error) {
	at, err := url.Parse(u)
	if err != nil {
		return 0, err
	}
	port, err := strconv.Atoi(at.Port())
	if err != nil {
		return 0, fmt.Errorf("%s has no port: %w", u, err)
	}
	inode, err := socketAt(port)
	if err != nil {
		return 0, err
	}
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return 0, err
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == "socket:["+inode+"]" {
			pid, err := strconv.Atoi(strings.Split(link, "/")[2])
			return process(pid), err
		}
	}
	return 0, fmt.Errorf("no process of ours listens at %s", u)
}

// socketAt returns the inode of the socket that listens at a port, as /proc/net/tcp has it.
func socketAt(port int) (inode string, err error) {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	defer f.Close()
	const listens = "0A"
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && fields[3] == listens && strings.HasSuffix(fields[1], fmt.Sprintf(":%04X", port)) {
			return fields[9], nil
		}
	}
	return "", fmt.Errorf("nothing listens at port %d", port)
}
