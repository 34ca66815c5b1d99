//go:build !unix

package sock

import "syscall"

// Fast says whether sockets can be read and written by their descriptors here.
const Fast = false

// Read is not to be had on this system.
func Read(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }

// Write is not to be had on this system.
func Write(uintptr, []byte) (int, syscall.Errno) { return 0, syscall.EINVAL }

func gather(uintptr, [][]byte) (int, syscall.Errno) { return 0, syscall.EINVAL }
