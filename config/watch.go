package config

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle lies between two looks at a file that must find the same before it counts as changed: editors and ConfigMap
// swaps write in steps. Looks alone tell that: events come of every file of the directory, a log that is written all
// the time too.
const settle = 100 * time.Millisecond

// Watch is FileWatch.Run of a file that is watched from now on.
func Watch(ctx context.Context, path string, onChange func()) error {
	w, err := OpenWatch(path)
	if err != nil {
		return err
	}
	return w.Run(ctx, onChange)
}

// FileWatch watches one file. Its Run is called once.
type FileWatch struct {
	path    string
	watcher *fsnotify.Watcher
	target  string            // the directory that the file is really in; empty = the one of path
	last    [sha256.Size]byte // of the content that was told of last
	seen    [sha256.Size]byte // of the content at the last look
}

// OpenWatch watches the file at path from now on: a file that is read afterwards changes no more unseen. It watches
// directories, not the file, so that it sees replaced files, and symbolic links that are turned (as a ConfigMap's are).
func OpenWatch(path string) (*FileWatch, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("config: watching %s: %w", path, err)
	}
	if err := w.Add(filepath.Dir(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("config: watching %s: %w", path, err), w.Close())
	}
	f := &FileWatch{path: path, watcher: w}
	f.follow()
	f.last, _ = f.sum()
	f.seen = f.last
	return f, nil
}

// Run calls onChange each time the content of the file has become another one and stayed so for a tenth of a second; a
// file that is gone or unreadable is waited for. onChange runs on Run's goroutine. Run returns nil when ctx ends, and
// an error when it cannot watch.
func (f *FileWatch) Run(ctx context.Context, onChange func()) error {
	defer f.watcher.Close()
	return f.run(ctx, onChange)
}

func (f *FileWatch) run(ctx context.Context, onChange func()) error {
	look := time.NewTimer(settle)
	defer look.Stop()
	for due := true; ; {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-f.watcher.Events:
			if !open {
				return fmt.Errorf("config: watching %s: the watcher is gone", f.path)
			}
		case err, open := <-f.watcher.Errors: // of events that were lost: anything may have changed
			if !open || !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("config: watching %s: %w", f.path, err)
			}
		case <-look.C:
			changed, again := f.look()
			if changed {
				onChange()
			}
			if due = again; due {
				look.Reset(settle)
			}
			continue
		}
		if !due {
			due = true
			look.Reset(settle)
		}
	}
}

// look reads the file again. changed says that its content is new and that the last look has found the same, again that
// another look is to tell.
func (f *FileWatch) look() (changed, again bool) {
	f.follow()
	sum, err := f.sum()
	if err != nil {
		return false, false
	}
	settled := sum == f.seen
	f.seen = sum
	if sum == f.last || !settled {
		return false, sum != f.last
	}
	f.last = sum
	return true, false
}

// follow watches the directory that a symbolic link at path leads to.
func (f *FileWatch) follow() {
	resolved, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return // gone for now: the directory of path tells when it is back
	}
	dir := filepath.Dir(resolved)
	if dir == f.target || dir == filepath.Dir(f.path) {
		return
	}
	if f.watcher.Add(dir) != nil {
		return // a directory that cannot be watched is still seen when the link turns
	}
	if f.target != "" {
		_ = f.watcher.Remove(f.target) // gone already where the old target was deleted
	}
	f.target = dir
}

func (f *FileWatch) sum() (sum [sha256.Size]byte, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, maxFile+1)); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
}
