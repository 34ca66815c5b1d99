//go:build !unix

package openai

// wouldBlock cannot look without waiting here: every idle connection passes, and a dead one is found out by use.
func wouldBlock(uintptr, []byte) bool { return true }

// readLazily is not to be had here: the buffer is held while waiting.
func (c *conn) readLazily() func(uintptr) bool { return nil }
