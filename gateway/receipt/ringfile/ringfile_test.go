package ringfile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func open(t testing.TB, path string, segments int64) *File {
	t.Helper()
	f, err := Open(path, headSize+segments*SegmentSize)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// oracle is a ring as one would write it down: every record of every segment that is not written over yet.
type oracle struct {
	segments []map[string][]byte // oldest first
	fill     int                 // bytes of the newest
	most     int
}

func (o *oracle) append(key string, value []byte) {
	size := recordStart + 1 + len(key) + len(value)
	if len(o.segments) == 0 || o.fill+size > SegmentSize {
		o.segments, o.fill = append(o.segments, map[string][]byte{}), startSize
		if len(o.segments) > o.most {
			o.segments = o.segments[1:]
		}
	}
	o.fill += size
	for _, s := range o.segments {
		delete(s, key)
	}
	o.segments[len(o.segments)-1][key] = value
}

func (o *oracle) find(key string) []byte {
	for _, s := range o.segments {
		if v, ok := s[key]; ok {
			return v
		}
	}
	return nil
}

// A ring file holds what a plain ring of maps holds, over many laps, and after it is opened again.
func TestAFileHoldsWhatTheOracleHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "ring")
	f, o := open(t, path, 3), &oracle{most: 3}
	check := func(when string) {
		for k := range 60 {
			key := fmt.Sprint("key-", k)
			got, err := f.Find(key)
			if want := o.find(key); (err != nil) != (want == nil) || !bytes.Equal(got, want) {
				t.Fatalf("%s: %s: %d bytes, %v; want %d bytes", when, key, len(got), err, len(want))
			}
		}
	}
	for i := range 400 {
		key, value := fmt.Sprint("key-", rng.IntN(60)), make([]byte, rng.IntN(100_000))
		for j := range min(len(value), 64) {
			value[j] = byte(rng.Uint32())
		}
		value = append(value, byte(i)) // none is empty
		if err := f.Append(key, value); err != nil {
			t.Fatal(err)
		}
		o.append(key, value)
		switch i % 40 {
		case 20:
			check("as it runs")
		case 39:
			f.Close()
			f = open(t, path, 3)
			check("opened again")
		}
	}
	if st, err := os.Stat(path); err != nil || st.Size() > headSize+3*SegmentSize {
		t.Errorf("%d bytes, %v", st.Size(), err)
	}
}

// Cut at any byte, a file has the records before the cut, and takes new ones.
func TestAFileIsCutAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "whole")
	f := open(t, path, 2)
	var ends []int64
	for i := range 4 {
		if err := f.Append(fmt.Sprint("key-", i), []byte(fmt.Sprint("value ", i))); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, headSize+int64(f.end))
	}
	f.Close()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "cut")
	for n := int64(0); n <= int64(len(whole)); n++ {
		if n > 64 && n < headSize-2 { // a hole
			continue
		}
		if err := os.WriteFile(at, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(at, Smallest)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		for i, end := range ends {
			_, err := f.Find(fmt.Sprint("key-", i))
			if there := err == nil; there != (n >= end) {
				t.Errorf("cut at %d: record %d, which ends at %d: %v", n, i, end, err)
			}
		}
		if err := f.Append("new", []byte("value")); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if f, err = Open(at, Smallest); err != nil {
			t.Fatal(err)
		}
		if v, err := f.Find("new"); err != nil || string(v) != "value" {
			t.Errorf("cut at %d: %q, %v", n, v, err)
		}
		f.Close()
	}
}

// A byte that was changed costs the records from it on to the end of its segment, and no other.
func TestADamagedByteIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	f := open(t, path, 2)
	for i := range 3 {
		if err := f.Append(fmt.Sprint("key-", i), []byte("a value")); err != nil {
			t.Fatal(err)
		}
	}
	end := f.end
	f.Close()
	whole, _ := os.ReadFile(path)
	for at := headSize; at < headSize+end; at++ {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x40
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, Smallest)
		if err != nil {
			t.Fatal(err)
		}
		if f.Len() == 3 {
			t.Errorf("byte %d is changed, and all is there", at)
		}
		for i := range 3 {
			if v, err := f.Find(fmt.Sprint("key-", i)); err == nil && string(v) != "a value" {
				t.Errorf("byte %d: %q", at, v)
			}
		}
		f.Close()
	}
}

// What is not a ring file is refused, and left as it is.
func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"x", "a letter to a friend\n", "octet receipts 2\nand more", "octet recipes"} {
		path := filepath.Join(dir, "foreign")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, Smallest); !errors.Is(err, ErrForeign) {
			t.Errorf("%q: %v", text, err)
		}
		if left, err := os.ReadFile(path); err != nil || string(left) != text {
			t.Errorf("%q is now %q, %v", text, left, err)
		}
	}
	if _, err := Open("/dev/null", Smallest); !errors.Is(err, ErrForeign) {
		t.Errorf("a device: %v", err)
	}
	if _, err := Open(dir, Smallest); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := Open(filepath.Join(dir, "none", "ring"), Smallest); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "small"), Smallest-1); !errors.Is(err, ErrSize) {
		t.Errorf("too small: %v", err)
	}
}

func TestAFileIsOpenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	f := open(t, path, 2)
	if _, err := Open(path, Smallest); !errors.Is(err, ErrHeld) {
		t.Errorf("opened twice: %v", err)
	}
	f.Close()
	open(t, path, 2)
}

// A file that is opened for another size keeps what has a place in it.
func TestASizeCanBeChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ring")
	for i, segments := range []int64{4, 2, 6} {
		f := open(t, path, segments)
		for j := range 40 {
			if err := f.Append(fmt.Sprintf("%d-%d", i, j), make([]byte, 100_000)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Find(fmt.Sprintf("%d-39", i)); err != nil {
			t.Errorf("%d segments: %v", segments, err)
		}
		f.Close()
		if st, _ := os.Stat(path); st.Size() > headSize+segments*SegmentSize {
			t.Errorf("%d segments: %d bytes", segments, st.Size())
		}
	}
}

func TestLongRecordsAreRefused(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "ring"), 2)
	for _, c := range []struct{ key, value int }{{256, 1}, {1, SegmentSize},
		{255, SegmentSize - startSize - recordStart - 255}} {
		if err := f.Append(string(make([]byte, c.key)), make([]byte, c.value)); !errors.Is(err, ErrTooLong) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := f.Append("most", make([]byte, SegmentSize-startSize-recordStart-5)); err != nil {
		t.Error(err)
	}
	if v, err := f.Find("most"); err != nil || len(v) != SegmentSize-startSize-recordStart-5 {
		t.Errorf("%d bytes, %v", len(v), err)
	}
}

// On a full disk an Append fails, what is there stays, and the next that has room is kept.
func TestAFullDiskCostsWhatHasNoRoom(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Skip(err)
	}
	path := filepath.Join(t.TempDir(), "ring")
	f := open(t, path, 2)
	if err := f.Append("before", []byte("value")); err != nil {
		t.Fatal(err)
	}
	full := limit
	full.Cur = headSize + 1000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		t.Skip(err)
	}
	err := f.Append("large", make([]byte, 5000))
	small := f.Append("small", []byte("value"))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err == nil || small != nil {
		t.Errorf("large: %v, small: %v", err, small)
	}
	f.Close()
	f = open(t, path, 2)
	for key, there := range map[string]bool{"before": true, "large": false, "small": true} {
		if _, err := f.Find(key); (err == nil) != there {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// Readers meet a writer that laps them: they find a record whole, or none.
func TestReadersMeetAWriter(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "ring"), 2)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				key := fmt.Sprint("key-", i%50)
				if v, err := f.Find(key); err == nil && !bytes.Equal(v, bytes.Repeat([]byte(key), 4000)) {
					t.Errorf("%s: %.20q", key, v)
				}
			}
		})
	}
	for i := range 500 {
		key := fmt.Sprint("key-", i%50)
		if err := f.Append(key, bytes.Repeat([]byte(key), 4000)); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}

// Whatever a segment holds, reading it ends, and what is found lies within it.
func FuzzReadRecord(f *testing.F) {
	f.Add(appendRecord(nil, 7, "key", []byte("value")), uint64(7))
	f.Add(appendRecord(appendRecord(nil, 7, "", nil), 8, "key", nil), uint64(7))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1}, uint64(0))
	f.Fuzz(func(t *testing.T, b []byte, lap uint64) {
		for {
			key, value, size, ok := readRecord(b, lap)
			if !ok {
				return
			}
			if again := appendRecord(nil, lap, key, value); size != len(again) || !bytes.Equal(again, b[:size]) {
				t.Fatalf("%q of %d bytes is written as %d bytes", key, size, len(again))
			}
			b = b[size:]
		}
	})
}

// Whatever stands behind the head of a file, opening it ends, and it takes a record.
func FuzzOpen(f *testing.F) {
	f.Add(appendRecord(appendStart(nil, 3), 3, "key", []byte("value")))
	f.Add(appendStart(nil, 1<<63))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "ring")
		text := append(append([]byte(magic), make([]byte, headSize-len(magic))...), b...)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, Smallest)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Append("new", []byte("value")); err != nil {
			t.Fatal(err)
		}
		if v, err := r.Find("new"); err != nil || string(v) != "value" {
			t.Fatalf("%q, %v", v, err)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	f := open(b, filepath.Join(b.TempDir(), "ring"), 16)
	value := make([]byte, 3000)
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := f.Append(fmt.Sprint(i), value); err != nil {
			b.Fatal(err)
		}
	}
}
