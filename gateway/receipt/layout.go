package receipt

import (
	"fmt"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"octet/routing"
)

// layout is what is kept of a struct, in the order in which it is written. A word without a pointer is kept as it is,
// whatever fields lie in it: the codec need not know their types, and its loops are short.
type layout struct {
	words []uintptr // offsets of eight bytes without a pointer
	texts []uintptr // offsets of strings
	rest  []op
}

// op is a value behind a pointer that is no string. How many values there are is written first; 0 is nil.
type op struct {
	kind kind
	at   uintptr
	elem *layout      // of what a list or a pointer holds; nil for a list whose elements are words alone
	size uintptr      // of one element
	of   reflect.Type // of the list, or of what the pointer points to
}

type kind uint8

const (
	list    kind = iota // slice: its elements
	shares              // map[string]float64: its pairs
	present             // pointer: what it points to
	shared              // pointer that is kept as it is, beside the bytes: many receipts have the same one
)

const wordSize = unsafe.Sizeof(uint64(0))

// sharedTypes are the types whose values outlive requests.
var sharedTypes = []reflect.Type{reflect.TypeFor[*routing.Profile](), reflect.TypeFor[*Names](),
	reflect.TypeFor[*time.Location](), reflect.TypeFor[*verdicts]()}

// whole is the layout of a receipt.
var whole = layoutOf(reflect.TypeFor[Receipt]())

// layoutOf returns the layout of a type. It panics if the codec cannot keep it.
func layoutOf(t reflect.Type) *layout {
	l := new(layout)
	l.add(t, 0)
	return l
}

// add adds a value of type t at an offset.
func (l *layout) add(t reflect.Type, at uintptr) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		if in := at - at%wordSize; !slices.Contains(l.words, in) {
			l.words = append(l.words, in)
		}
	case reflect.String:
		l.texts = append(l.texts, at)
	case reflect.Struct:
		for i := range t.NumField() {
			l.add(t.Field(i).Type, at+t.Field(i).Offset)
		}
	case reflect.Array:
		for i := range uintptr(t.Len()) {
			l.add(t.Elem(), at+i*t.Elem().Size())
		}
	default:
		l.rest = append(l.rest, opOf(t, at))
	}
}

func opOf(t reflect.Type, at uintptr) op {
	switch {
	case slices.Contains(sharedTypes, t):
		return op{kind: shared, at: at}
	case t.Kind() == reflect.Pointer && t.Elem().Size()%wordSize == 0:
		return op{kind: present, at: at, elem: layoutOf(t.Elem()), of: t.Elem()}
	case t.Kind() == reflect.Slice:
		elem := layoutOf(t.Elem())
		if len(elem.texts)+len(elem.rest) == 0 {
			elem = nil
		}
		return op{kind: list, at: at, elem: elem, size: t.Elem().Size(), of: t}
	case t == reflect.TypeFor[map[string]float64]():
		return op{kind: shares, at: at}
	default:
		panic(fmt.Sprintf("receipt: the codec knows no %s", t))
	}
}
