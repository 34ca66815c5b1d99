package receipt

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"octet/routing"
)

// The codec is made from the struct: a field that is added to Receipt is kept without a line here. It exists for the
// garbage collector, which does not look into bytes. A ring of 10,000 structs costs BenchmarkComplete (bytes=1024,
// stream=false) 3.9 µs of CPU more than one of bytes, which is half of the request.

// kind is how a value is written. A zero value is not written at all.
type kind uint8

const (
	text    kind = iota // string: its length, then itself
	one                 // bool
	two                 // uint16
	eight               // int, int64, uint64, float64
	moment              // time.Time, to the nanosecond, in local time
	shares              // map[string]float64: its length, then the pairs
	list                // a slice: its length, then the elements
	present             // a pointer: what it points to
	shared              // a pointer that is kept as it is, beside the bytes: many receipts have the same
)

// sharedTypes are the types whose values outlive requests.
var sharedTypes = []reflect.Type{reflect.TypeFor[*routing.Profile](), reflect.TypeFor[*Names]()}

// op writes one value of a struct that has been flattened.
type op struct {
	kind kind
	at   uintptr      // offset
	elem []op         // what a list or a pointer holds
	size uintptr      // of one element
	of   reflect.Type // of the list, or of what the pointer points to
}

// plan is how a Receipt is written.
var plan = opsOf(nil, reflect.TypeFor[Receipt](), 0)

// kinds of the types that are written at once.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[time.Time]():          moment,
	reflect.TypeFor[map[string]float64](): shares,
}

// basic kinds of all other types.
var basic = map[reflect.Kind]kind{reflect.String: text, reflect.Bool: one, reflect.Uint16: two,
	reflect.Int: eight, reflect.Int64: eight, reflect.Uint64: eight, reflect.Float64: eight}

// opsOf appends what writes a value of type t at an offset. It panics on a type that the codec does not know.
func opsOf(ops []op, t reflect.Type, at uintptr) []op {
	if k, ok := kinds[t]; ok {
		return append(ops, op{kind: k, at: at})
	}
	if k, ok := basic[t.Kind()]; ok {
		return append(ops, op{kind: k, at: at})
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Type != reflect.TypeFor[*verdicts]() {
				ops = opsOf(ops, f.Type, at+f.Offset)
			}
		}
		return ops
	case reflect.Array:
		for i := range t.Len() {
			ops = opsOf(ops, t.Elem(), at+uintptr(i)*t.Elem().Size())
		}
		return ops
	case reflect.Slice:
		return append(ops, op{kind: list, at: at, elem: opsOf(nil, t.Elem(), 0), size: t.Elem().Size(), of: t})
	case reflect.Pointer:
		if slices.Contains(sharedTypes, t) {
			return append(ops, op{kind: shared, at: at})
		}
		return append(ops, op{kind: present, at: at, elem: opsOf(nil, t.Elem(), 0), of: t.Elem()})
	default:
		panic(fmt.Sprintf("receipt: the codec knows no %s", t))
	}
}

// record is a receipt as it is kept.
type record struct {
	text   []byte
	shared []unsafe.Pointer // in the order in which the plan meets them
}

// group is how many values have a byte before them that says which of them are not zero.
const group = 8

// write appends the value at p to b, and pointers that are shared to w.shared.
func (w *record) write(b []byte, ops []op, p unsafe.Pointer) []byte {
	for first := 0; first < len(ops); first += group {
		mask := len(b)
		b = append(b, 0)
		for i := range ops[first:min(first+group, len(ops))] {
			o := &ops[first+i]
			if at := unsafe.Add(p, o.at); !o.zero(at) {
				b[mask] |= 1 << i
				b = w.writeOne(b, o, at)
			}
		}
	}
	return b
}

// zero reports whether the value is not worth writing: a zero, nothing in a list, no pointer.
func (o *op) zero(at unsafe.Pointer) bool {
	switch o.kind {
	case one:
		return !*(*bool)(at)
	case two:
		return *(*uint16)(at) == 0
	case text, list:
		return *(*int)(unsafe.Add(at, unsafe.Sizeof(at))) == 0 // the length, behind a pointer
	case moment:
		return false
	default: // eight bytes, a pointer, a map
		return *(*uint64)(at) == 0
	}
}

func (w *record) writeOne(b []byte, o *op, at unsafe.Pointer) []byte {
	switch o.kind {
	case text:
		return appendText(b, *(*string)(at))
	case one:
		return b // the mask says it
	case two:
		return binary.LittleEndian.AppendUint16(b, *(*uint16)(at))
	case eight:
		return binary.LittleEndian.AppendUint64(b, *(*uint64)(at))
	case shared:
		w.shared = append(w.shared, *(*unsafe.Pointer)(at))
		return b
	case present:
		return w.write(b, o.elem, *(*unsafe.Pointer)(at))
	case moment:
		t := *(*time.Time)(at)
		return binary.AppendUvarint(binary.AppendVarint(b, t.Unix()), uint64(t.Nanosecond()))
	default:
		return w.writeMany(b, o, at)
	}
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (w *record) writeMany(b []byte, o *op, at unsafe.Pointer) []byte {
	if o.kind == shares {
		m := *(*map[string]float64)(at)
		b = binary.AppendUvarint(b, uint64(len(m)))
		for name, share := range m {
			b = binary.LittleEndian.AppendUint64(appendText(b, name), math.Float64bits(share))
		}
		return b
	}
	s := *(*[]byte)(at) // of another type, with the same length
	b = binary.AppendUvarint(b, uint64(len(s)))
	for i := range uintptr(len(s)) {
		b = w.write(b, o.elem, unsafe.Add(unsafe.Pointer(unsafe.SliceData(s)), i*o.size))
	}
	return b
}

// read makes the zero value at p what was written, and moves w behind it. It shares no bytes with w.
func (w *record) read(ops []op, p unsafe.Pointer) {
	for first := 0; first < len(ops); first += group {
		mask := w.take(1)[0]
		for i := range ops[first:min(first+group, len(ops))] {
			if mask>>i&1 != 0 {
				w.readOne(&ops[first+i], p)
			}
		}
	}
}

func (w *record) readOne(o *op, p unsafe.Pointer) {
	at := unsafe.Add(p, o.at)
	switch o.kind {
	case text:
		*(*string)(at) = w.takeText()
	case one:
		*(*bool)(at) = true
	case two:
		*(*uint16)(at) = binary.LittleEndian.Uint16(w.take(2))
	case eight:
		*(*uint64)(at) = w.takeEight()
	case moment:
		seconds, n := binary.Varint(w.text)
		w.take(n)
		*(*time.Time)(at) = time.Unix(seconds, int64(w.takeCount()))
	case shared:
		*(*unsafe.Pointer)(at) = w.shared[0]
		w.shared = w.shared[1:]
	case shares:
		n := w.takeCount()
		m := make(map[string]float64, n)
		for range n {
			name := w.takeText()
			m[name] = math.Float64frombits(w.takeEight())
		}
		*(*map[string]float64)(at) = m
	case list:
		n := w.takeCount()
		s := reflect.MakeSlice(o.of, n, n)
		for i := range n {
			w.read(o.elem, s.Index(i).Addr().UnsafePointer())
		}
		reflect.NewAt(o.of, at).Elem().Set(s)
	case present:
		to := reflect.New(o.of).UnsafePointer()
		w.read(o.elem, to)
		*(*unsafe.Pointer)(at) = to
	}
}

func (w *record) take(n int) []byte {
	taken := w.text[:n]
	w.text = w.text[n:]
	return taken
}

func (w *record) takeText() string { return string(w.take(w.takeCount())) }

func (w *record) takeEight() uint64 { return binary.LittleEndian.Uint64(w.take(8)) }

func (w *record) takeCount() int {
	v, n := binary.Uvarint(w.text)
	w.text = w.text[n:]
	return int(v)
}
