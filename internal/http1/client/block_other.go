//go:build !unix

package client

// looks says whether sockets can be read by their descriptors: not here, where the buffer is held while waiting.
const looks = false

// wouldBlock cannot look without waiting here: every idle connection passes, and a dead one is found out by use.
func wouldBlock(uintptr, []byte) bool { return true }
