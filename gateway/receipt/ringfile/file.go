package ringfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Errors of files.
var (
	ErrForeign = errors.New("not a file of receipts") // it is left as it is
	ErrHeld    = errors.New("another process has the file of receipts open")
	ErrSize    = errors.New("too small for a file of receipts")
	ErrTooLong = errors.New("longer than a record may be")
	ErrGone    = errors.New("no such record is kept")
)

// Sizes, in bytes.
const (
	SegmentSize = 1 << 20
	Smallest    = headSize + 2*SegmentSize // of a file
	headSize    = 4096
)

const magic = "octet receipts 1\n"

// File is an open ring file.
type File struct {
	f     *os.File
	count int // segments

	at  int    // segment that is written; owned by the goroutine that appends, like end, lap and buf
	end int    // of what is written there
	lap uint64 // that is written
	buf []byte

	mu    sync.Mutex
	index map[uint64]place // by the hash of keys; guarded by mu like keys
	keys  [][]uint64       // by segment
}

// place is where a record begins.
type place struct {
	segment, offset uint32
	lap             uint64
}

// Open opens or makes the file at path, of at most so many bytes, and reads which records it holds.
func Open(path string, size int64) (*File, error) {
	if size < Smallest {
		return nil, fmt.Errorf("%s: %w: %d bytes, want at least %d", path, ErrSize, size, Smallest)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a file of receipts: %w", err)
	}
	r := &File{f: f, count: int((size - headSize) / SegmentSize), index: map[uint64]place{}}
	r.keys = make([][]uint64, r.count)
	if err := r.prepare(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, f.Close()))
	}
	return r, nil
}

// prepare takes the file for this process, and reads it.
func (r *File) prepare() error {
	st, err := r.f.Stat()
	switch {
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return fmt.Errorf("%w: %s", ErrForeign, st.Mode())
	}
	if err := lock(r.f); err != nil {
		return err
	}
	if err := r.head(st.Size()); err != nil {
		return err
	}
	if most := headSize + int64(r.count)*SegmentSize; st.Size() > most {
		if err := r.f.Truncate(most); err != nil { // it was larger: its last segments go
			return err
		}
	}
	return r.load()
}

// head writes the head of a file that is new, or that a crash left with a part of it.
func (r *File) head(size int64) error {
	found := make([]byte, min(size, int64(len(magic))))
	if _, err := io.ReadFull(r.f, found); err != nil {
		return err
	}
	switch {
	case string(found) == magic:
		return nil
	case size >= int64(len(magic)) || !bytes.HasPrefix([]byte(magic), found):
		return ErrForeign
	}
	_, err := r.f.WriteAt([]byte(magic), 0)
	return err
}

// Close gives the file back.
func (r *File) Close() error { return r.f.Close() }

// Len returns how many records there are.
func (r *File) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.index)
}
