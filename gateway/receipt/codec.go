package receipt

import (
	"encoding/binary"
	"math"
	"reflect"
	"unsafe"
)

// The codec is made from the struct, by layout.go: a field that is added to Receipt is kept without a line here. It
// exists for the garbage collector, which does not look into bytes. A ring of 10,000 structs costs BenchmarkComplete
// (bytes=1024, stream=false) 3.9 µs of CPU more than one of bytes, which is half of the request.

// record is a receipt as it is kept.
type record struct {
	text   []byte
	shared []unsafe.Pointer // in the order in which the layouts meet them
}

// group is how many words have a byte before them that says which of them are not zero.
const group = 8

// write appends the value at p to b, and pointers that are shared to w.shared.
func (w *record) write(b []byte, l *layout, p unsafe.Pointer) []byte {
	for words := l.words; len(words) > 0; words = words[min(group, len(words)):] {
		mask, says := len(b), byte(0)
		b = append(b, 0)
		for i, at := range words[:min(group, len(words))] {
			if v := *(*uint64)(unsafe.Add(p, at)); v != 0 {
				says |= 1 << i
				b = binary.LittleEndian.AppendUint64(b, v)
			}
		}
		b[mask] = says
	}
	for _, at := range l.texts {
		b = appendText(b, *(*string)(unsafe.Add(p, at)))
	}
	for i := range l.rest {
		o := &l.rest[i]
		if at := unsafe.Add(p, o.at); *(*unsafe.Pointer)(at) == nil {
			b = append(b, 0)
		} else {
			b = w.writeOne(b, o, at)
		}
	}
	return b
}

// writeOne appends how many values lie behind the pointer at an offset, and the values.
func (w *record) writeOne(b []byte, o *op, at unsafe.Pointer) []byte {
	switch o.kind {
	case list:
		return w.writeList(b, o, *(*[]byte)(at)) // of another type, with the same length
	case present:
		return w.write(append(b, 1), o.elem, *(*unsafe.Pointer)(at))
	case shared:
		w.shared = append(w.shared, *(*unsafe.Pointer)(at))
		return append(b, 1)
	default: // shares
		m := *(*map[string]float64)(at)
		b = appendCount(b, len(m))
		for name, share := range m {
			b = binary.LittleEndian.AppendUint64(appendText(b, name), math.Float64bits(share))
		}
		return b
	}
}

func (w *record) writeList(b []byte, o *op, s []byte) []byte {
	b = appendCount(b, len(s))
	first, n := unsafe.SliceData(s), uintptr(len(s))
	if o.elem == nil {
		return append(b, unsafe.Slice(first, n*o.size)...)
	}
	for i := range n {
		b = w.write(b, o.elem, unsafe.Add(unsafe.Pointer(first), i*o.size))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	if s == "" { // as most are
		return append(b, 0)
	}
	return append(appendCount(b, len(s)), s...)
}

func appendCount(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

// read makes the zero value at p what was written, and moves w behind it. It shares no bytes with w.
func (w *record) read(l *layout, p unsafe.Pointer) {
	mask := byte(0)
	for i, at := range l.words {
		if i%group == 0 {
			mask = w.take(1)[0]
		}
		if mask>>(i%group)&1 != 0 {
			*(*uint64)(unsafe.Add(p, at)) = w.takeWord()
		}
	}
	for _, at := range l.texts {
		*(*string)(unsafe.Add(p, at)) = w.takeText()
	}
	for i := range l.rest {
		if n := w.takeCount(); n > 0 {
			w.readOne(&l.rest[i], unsafe.Add(p, l.rest[i].at), n)
		}
	}
}

func (w *record) readOne(o *op, at unsafe.Pointer, n int) {
	switch o.kind {
	case list:
		w.readList(o, at, n)
	case present:
		to := reflect.New(o.of).UnsafePointer()
		w.read(o.elem, to)
		*(*unsafe.Pointer)(at) = to
	case shared:
		*(*unsafe.Pointer)(at) = w.shared[0]
		w.shared = w.shared[1:]
	case shares:
		m := make(map[string]float64, n)
		for range n {
			name := w.takeText()
			m[name] = math.Float64frombits(w.takeWord())
		}
		*(*map[string]float64)(at) = m
	}
}

func (w *record) readList(o *op, at unsafe.Pointer, n int) {
	s := reflect.MakeSlice(o.of, n, n)
	first := s.UnsafePointer()
	if o.elem == nil {
		copy(unsafe.Slice((*byte)(first), uintptr(n)*o.size), w.take(n*int(o.size)))
	} else {
		for i := range uintptr(n) {
			w.read(o.elem, unsafe.Add(first, i*o.size))
		}
	}
	reflect.NewAt(o.of, at).Elem().Set(s)
}

func (w *record) take(n int) []byte {
	taken := w.text[:n]
	w.text = w.text[n:]
	return taken
}

func (w *record) takeText() string { return string(w.take(w.takeCount())) }

func (w *record) takeWord() uint64 { return binary.LittleEndian.Uint64(w.take(int(wordSize))) }

func (w *record) takeCount() int {
	v, n := binary.Uvarint(w.text)
	w.text = w.text[n:]
	return int(v)
}
