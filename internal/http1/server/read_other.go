//go:build !linux

package server

import (
	"net"
	"syscall"
)

// rawOf has every connection read by blocking here.
func rawOf(net.Conn) syscall.RawConn { return nil }

func (c *conn) onReady(uintptr) bool  { return true }
func (l *link) onTarget(uintptr) bool { return true }
func (c *conn) reach() bool           { return false }
