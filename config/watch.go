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

// settle is how long a file must be left alone before it counts as changed: editors and ConfigMap swaps write in steps.
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
	last    [sha256.Size]byte // of the content that was seen last
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
	quiet := time.NewTimer(settle)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-f.watcher.Events:
			if !open {
				return fmt.Errorf("config: watching %s: the watcher is gone", f.path)
			}
			quiet.Reset(settle)
		case err, open := <-f.watcher.Errors:
			if !open || !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("config: watching %s: %w", f.path, err)
			}
			quiet.Reset(settle) // events were lost, so anything may have changed
		case <-quiet.C:
			if f.changed() {
				onChange()
			}
		}
	}
}

// changed reads the file again and reports whether its content is new.
func (f *FileWatch) changed() bool {
	f.follow()
	sum, err := f.sum()
	if err != nil || sum == f.last {
		return false
	}
	f.last = sum
	return true
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
