package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// watching runs Watch on path until the test ends and returns what tells of its calls.
func watching(t *testing.T, path string) <-chan struct{} {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	changes, started, ended := make(chan struct{}, 16), make(chan struct{}), make(chan error, 1)
	go func() {
		close(started)
		ended <- Watch(ctx, path, func() { changes <- struct{}{} })
	}()
	<-started
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return changes
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until keeps changing the file until the watcher, which may not have begun yet, tells of it.
func until(t *testing.T, changes <-chan struct{}, change func(i int)) {
	t.Helper()
	for i := range 64 {
		change(i)
		select {
		case <-changes:
			return
		case <-pause():
		}
	}
	t.Fatal("no change was told")
}

func TestAWrittenOrReplacedFileIsToldOf(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Run("watch", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "octet.yaml")
		write(t, path, "a")
		changes := watching(t, path)
		until(t, changes, func(i int) { write(t, path, string(rune('b'+i))) })
		until(t, changes, func(i int) { // as editors do
			write(t, path+".new", string(rune('B'+i)))
			must(t, os.Rename(path+".new", path))
		})
		must(t, os.Remove(path))
		until(t, changes, func(i int) { write(t, path, string(rune('0'+i))) })
	})
}

// A ConfigMap is a link to a folder that is a link: turning the latter changes the file.
func TestATurnedLinkIsToldOf(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Run("watch", func(t *testing.T) {
		dir := t.TempDir()
		turn := func(version string) {
			must(t, os.MkdirAll(filepath.Join(dir, version), 0o700))
			write(t, filepath.Join(dir, version, "octet.yaml"), version)
			must(t, os.Symlink(version, filepath.Join(dir, "..next")))
			must(t, os.Rename(filepath.Join(dir, "..next"), filepath.Join(dir, "..data")))
		}
		turn("..v0")
		path := filepath.Join(dir, "octet.yaml")
		must(t, os.Symlink(filepath.Join("..data", "octet.yaml"), path))
		changes := watching(t, path)
		until(t, changes, func(i int) { turn("..v1" + string(rune('a'+i))) })
		until(t, changes, func(i int) { turn("..v2" + string(rune('a'+i))) })
	})
}

func TestAFileElsewhereIsToldOfThroughItsLink(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Run("watch", func(t *testing.T) {
		here, there := t.TempDir(), t.TempDir()
		write(t, filepath.Join(there, "real.yaml"), "a")
		path := filepath.Join(here, "octet.yaml")
		must(t, os.Symlink(filepath.Join(there, "real.yaml"), path))
		changes := watching(t, path)
		until(t, changes, func(i int) { write(t, filepath.Join(there, "real.yaml"), string(rune('b'+i))) })
		there = t.TempDir()
		write(t, filepath.Join(there, "real.yaml"), "elsewhere")
		must(t, os.Symlink(filepath.Join(there, "real.yaml"), path+".new"))
		must(t, os.Rename(path+".new", path))
		until(t, changes, func(int) {})
		until(t, changes, func(i int) { write(t, filepath.Join(there, "real.yaml"), string(rune('B'+i))) })
	})
}

// Issue 23: a log that is written all the time beside the file does not keep a change from being told.
func TestAFileInABusyFolderIsToldOf(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Run("watch", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "octet.yaml")
		write(t, path, "a")
		changes := watching(t, path)
		log := time.NewTicker(settle / 10)
		defer log.Stop()
		over := time.After(time.Minute)
		for i := 0; ; i++ {
			if i%100 == 0 {
				write(t, path, string(rune('b'+i/100)))
			}
			select {
			case <-changes:
				return
			case <-log.C:
				write(t, filepath.Join(dir, "octet.log"), string(rune(i)))
			case <-over:
				t.Fatal("no change was told")
			}
		}
	})
}

func TestAFolderThatIsNotThereCannotBeWatched(t *testing.T) {
	defer goleak.VerifyNone(t)
	if err := Watch(t.Context(), filepath.Join(t.TempDir(), "no", "octet.yaml"), func() {}); err == nil {
		t.Fatal("no error")
	}
}

// pause is longer than the two looks that a change takes.
func pause() <-chan time.Time { return time.After(3 * settle) }

// A file is read after its watch is open: what changes from then on is told of, also before Run.
func TestAChangeBeforeRunIsToldOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replicas.yaml")
	w, err := OpenWatch(path) // not there yet
	must(t, err)
	write(t, path, "a")
	ctx, told := context.WithCancel(t.Context())
	must(t, w.Run(ctx, told))
}
