//go:build !unix

package ringfile

import (
	"errors"
	"os"
)

// lock refuses: this system has no locks that end with the process.
func lock(*os.File) error { return errors.ErrUnsupported }
