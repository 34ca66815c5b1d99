package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// FileConfig is where records are kept locally.
type FileConfig struct {
	Path  string
	Bytes int64 // of one file; the next record begins another
	Keep  int   // earlier files kept, as Path.1 (the newest) and so on
}

// File appends records to a file, one a line, and turns it over when it is full.
type File struct {
	cfg  FileConfig
	file *os.File // nil when it has to be opened
	size int64    // of whole lines
}

const fileMode = 0o600 // records may hold texts

// NewFile opens the file, so that a path that cannot be is known at the start.
func NewFile(cfg FileConfig) (*File, error) {
	if cfg.Path == "" || cfg.Bytes <= 0 || cfg.Keep < 0 {
		return nil, fmt.Errorf("records: a file %q of %d bytes, %d kept", cfg.Path, cfg.Bytes, cfg.Keep)
	}
	f := &File{cfg: cfg}
	return f, f.open()
}

// Name implements Sink.
func (f *File) Name() string { return "file" }

// open opens the file at its end. A line that an earlier process left unfinished is finished there, to be skipped by
// readers.
func (f *File) open() error {
	file, err := os.OpenFile(f.cfg.Path, os.O_CREATE|os.O_RDWR|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	at, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.file, f.size = file, at.Size()
	if last := []byte{'\n'}; f.size > 0 {
		if _, err := file.ReadAt(last, f.size-1); err == nil && last[0] != '\n' {
			n, _ := file.WriteString("\n") // else the next one tries
			f.size += int64(n)
		}
	}
	return nil
}

// Write implements Sink. A line that does not go out whole is taken back.
func (f *File) Write(_ context.Context, line []byte) error {
	if f.file != nil && f.size > 0 && f.size+int64(len(line)) >= f.cfg.Bytes {
		if err := f.turn(); err != nil {
			return err
		}
	}
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	n, err := f.file.Write(append(line[:len(line):len(line)], '\n'))
	if err == nil {
		f.size += int64(n)
		return nil
	}
	if n > 0 && f.file.Truncate(f.size) != nil {
		return errors.Join(err, f.Close()) // opened anew, which mends it
	}
	return err
}

// turn makes room: the file becomes Path.1, that one Path.2, and the oldest goes.
func (f *File) turn() error {
	if err := f.Close(); err != nil {
		return err
	}
	if f.cfg.Keep == 0 {
		return os.Remove(f.cfg.Path)
	}
	for i := f.cfg.Keep - 1; i >= 1; i-- {
		if err := os.Rename(f.earlier(i), f.earlier(i+1)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.Rename(f.cfg.Path, f.earlier(1))
}

func (f *File) earlier(i int) string { return f.cfg.Path + "." + strconv.Itoa(i) }

// Close implements Sink.
func (f *File) Close() error {
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file = nil
	return err
}
