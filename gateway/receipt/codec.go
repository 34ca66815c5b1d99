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

// group is how many words have a byte before them that says which of them are not zero.
const group = 8

// write appends the value at an address to b.
func (p *page) write(b []byte, l *layout, from unsafe.Pointer) []byte {
	for words := l.words; len(words) > 0; words = words[min(group, len(words)):] {
		mask, says := len(b), byte(0)
		b = append(b, 0)
		for i, at := range words[:min(group, len(words))] {
			if v := *(*uint64)(unsafe.Add(from, at)); v != 0 {
				says |= 1 << i
				b = binary.LittleEndian.AppendUint64(b, v)
			}
		}
		b[mask] = says
	}
	for _, at := range l.texts {
		b = appendText(b, *(*string)(unsafe.Add(from, at)))
	}
	for i := range l.rest {
		o := &l.rest[i]
		if at := unsafe.Add(from, o.at); *(*unsafe.Pointer)(at) == nil {
			b = append(b, 0)
		} else {
			b = p.writeOne(b, o, at)
		}
	}
	return b
}

// writeOne appends how many values lie behind the pointer at an address, and the values; of one that is shared, its
// number.
func (p *page) writeOne(b []byte, o *op, at unsafe.Pointer) []byte {
	switch o.kind {
	case list:
		return p.writeList(b, o, *(*[]byte)(at)) // of another type, with the same length
	case present:
		return p.write(append(b, 1), o.elem, *(*unsafe.Pointer)(at))
	case shared:
		return appendCount(b, p.number(*(*unsafe.Pointer)(at)))
	default: // shares
		m := *(*map[string]float64)(at)
		b = appendCount(b, len(m))
		for name, share := range m {
			b = binary.LittleEndian.AppendUint64(appendText(b, name), math.Float64bits(share))
		}
		return b
	}
}

func (p *page) writeList(b []byte, o *op, s []byte) []byte {
	b = appendCount(b, len(s))
	first, n := unsafe.SliceData(s), uintptr(len(s))
	if o.elem == nil {
		return append(b, unsafe.Slice(first, n*o.size)...)
	}
	for i := range n {
		b = p.write(b, o.elem, unsafe.Add(unsafe.Pointer(first), i*o.size))
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

// reader is what is left to read of a receipt.
type reader struct {
	text   []byte
	shared []unsafe.Pointer // of its page
}

// read makes the zero value at p what was written, and moves r behind it. It shares no bytes with r.
func (r *reader) read(l *layout, p unsafe.Pointer) {
	mask := byte(0)
	for i, at := range l.words {
		if i%group == 0 {
			mask = r.take(1)[0]
		}
		if mask>>(i%group)&1 != 0 {
			*(*uint64)(unsafe.Add(p, at)) = r.takeWord()
		}
	}
	for _, at := range l.texts {
		*(*string)(unsafe.Add(p, at)) = r.takeText()
	}
	for i := range l.rest {
		if n := r.takeCount(); n > 0 {
			r.readOne(&l.rest[i], unsafe.Add(p, l.rest[i].at), n)
		}
	}
}

func (r *reader) readOne(o *op, at unsafe.Pointer, n int) {
	switch o.kind {
	case list:
		r.readList(o, at, n)
	case present:
		to := reflect.New(o.of).UnsafePointer()
		r.read(o.elem, to)
		*(*unsafe.Pointer)(at) = to
	case shared:
		*(*unsafe.Pointer)(at) = r.shared[n-1]
	case shares:
		m := make(map[string]float64, n)
		for range n {
			name := r.takeText()
			m[name] = math.Float64frombits(r.takeWord())
		}
		*(*map[string]float64)(at) = m
	}
}

func (r *reader) readList(o *op, at unsafe.Pointer, n int) {
	s := reflect.MakeSlice(o.of, n, n)
	first := s.UnsafePointer()
	if o.elem == nil {
		copy(unsafe.Slice((*byte)(first), uintptr(n)*o.size), r.take(n*int(o.size)))
	} else {
		for i := range uintptr(n) {
			r.read(o.elem, unsafe.Add(first, i*o.size))
		}
	}
	reflect.NewAt(o.of, at).Elem().Set(s)
}

func (r *reader) take(n int) []byte {
	taken := r.text[:n]
	r.text = r.text[n:]
	return taken
}

func (r *reader) takeText() string { return string(r.take(r.takeCount())) }

func (r *reader) takeWord() uint64 { return binary.LittleEndian.Uint64(r.take(int(wordSize))) }

func (r *reader) takeCount() int {
	v, n := binary.Uvarint(r.text)
	r.text = r.text[n:]
	return int(v)
}
