package ringfile

import (
	"errors"
	"fmt"
	"io"
)

// base is where a segment begins in the file.
func base(segment int) int64 { return headSize + int64(segment)*SegmentSize }

// load reads which records the file holds, oldest lap first, and goes on behind the newest. A file without any begins
// at its first segment.
func (r *File) load() error {
	r.at, r.end, r.lap = -1, 0, 0
	b := make([]byte, SegmentSize)
	for segment := range r.count {
		n, err := r.f.ReadAt(b, base(segment))
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		lap, ok := lapOf(b[:n])
		if !ok {
			continue
		}
		end := r.scan(b[:n], segment, lap)
		if lap >= r.lap {
			r.at, r.end, r.lap = segment, end, lap
		}
	}
	return nil
}

// scan puts the records of a segment into the index, and returns where they end.
func (r *File) scan(b []byte, segment int, lap uint64) int {
	at := startSize
	for {
		key, _, size, ok := readRecord(b[at:], lap)
		if !ok {
			return at
		}
		r.note(key, place{uint32(segment), uint32(at), lap})
		at += size
	}
}

// note puts a record into the index, unless there is a newer one of its key.
func (r *File) note(key string, p place) {
	h := hash(key)
	known, ok := r.index[h]
	if ok && (known.lap > p.lap || known.lap == p.lap && known.offset > p.offset) {
		return
	}
	r.index[h] = p
	r.keys[p.segment] = append(r.keys[p.segment], h)
}

// Append keeps a record; one of the same key is found no more. On an error it is not kept, and the next one is written
// in its place.
func (r *File) Append(key string, value []byte) error {
	size := recordStart + 1 + len(key) + len(value)
	if len(key) > mostKey || size > SegmentSize-startSize {
		return fmt.Errorf("%w: a key of %d bytes, a value of %d", ErrTooLong, len(key), len(value))
	}
	if r.at < 0 || r.end+size > SegmentSize {
		if err := r.next(); err != nil {
			return err
		}
	}
	r.buf = appendRecord(r.buf[:0], r.lap, key, value)
	if _, err := r.f.WriteAt(r.buf, base(r.at)+int64(r.end)); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(key, place{uint32(r.at), uint32(r.end), r.lap})
	r.end += size
	return nil
}

// next begins to write over the oldest segment. Laps count segments: the one after the newest is the oldest.
func (r *File) next() error {
	at, lap := (r.at+1)%r.count, r.lap+1
	r.forget(at)
	if _, err := r.f.WriteAt(appendStart(nil, lap), base(at)); err != nil {
		return err
	}
	r.at, r.end, r.lap = at, startSize, lap
	return nil
}

// forget takes the records of a segment out of the index.
func (r *File) forget(segment int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.keys[segment] {
		if int(r.index[h].segment) == segment {
			delete(r.index, h)
		}
	}
	r.keys[segment] = r.keys[segment][:0]
}

// Find returns the value of the newest record of a key: ErrGone if none is kept.
func (r *File) Find(key string) ([]byte, error) {
	r.mu.Lock()
	p, ok := r.index[hash(key)]
	r.mu.Unlock()
	if !ok {
		return nil, ErrGone
	}
	var head [recordStart]byte
	at := base(int(p.segment)) + int64(p.offset)
	if _, err := r.f.ReadAt(head[:], at); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	n := length(head[:])
	if n > SegmentSize-int(p.offset)-recordStart {
		return nil, ErrGone // written over
	}
	b := make([]byte, recordStart+n)
	if _, err := r.f.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	found, value, _, ok := readRecord(b, p.lap)
	if !ok || found != key {
		return nil, ErrGone // written over, or damaged
	}
	return value, nil
}
