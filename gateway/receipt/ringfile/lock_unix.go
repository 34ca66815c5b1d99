//go:build unix

package ringfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes the file for this process, until it is closed, whatever ends the process.
func lock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("locking: %w", err)
	}
	return nil
}
