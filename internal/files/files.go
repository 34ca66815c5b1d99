// Package files replaces files as a whole, and notices when another program has replaced one.
package files

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Modes of the files that are written.
const (
	Private = 0o600 // tells what clients asked
	Public  = 0o644
)

// Replace writes a file as a whole or not at all: a reader of path never sees a part of it.
func Replace(path string, mode os.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(mode), write(f), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// SaveEvery calls save at every interval until ctx ends, and then once more.
func SaveEvery(ctx context.Context, interval time.Duration, save func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		save()
	}
}

// Stamp tells one content of a file from another.
type Stamp struct {
	Path     string
	modified time.Time
	size     int64
}

// StampOf returns the stamp of the file at path, which may not exist.
func StampOf(path string) Stamp {
	stat, err := os.Stat(path)
	if err != nil {
		return Stamp{Path: path}
	}
	return Stamp{path, stat.ModTime(), stat.Size()}
}

// Exists returns true if there was a file.
func (s Stamp) Exists() bool { return !s.modified.IsZero() }
