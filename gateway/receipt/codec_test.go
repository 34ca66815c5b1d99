package receipt

import (
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"
	"unsafe"
)

// leaf has fields of all sizes between its pointers, and lists with and without pointers in their elements.
type leaf struct {
	A    uint8
	Name string
	B    bool
	C    int16
	D    [3]uint32
	Few  []uint16
	Pair []struct{ X, Y float64 }
	E    float32
	Some []struct {
		Text string
		On   bool
	}
	Share map[string]float64
	To    *struct {
		N    int
		More []string
	}
	F [2]bool
}

// Whatever a struct holds is read as it was written, one behind the other; an empty list is none.
func TestTheCodecReadsWhatItWrote(t *testing.T) {
	l, p := layoutOf(reflect.TypeFor[leaf]()), new(page)
	var wrote []leaf
	var at []int
	for seed := range int64(300) {
		v, _ := quick.Value(reflect.TypeFor[leaf](), rand.New(rand.NewSource(seed)))
		one := v.Interface().(leaf)
		wrote, at = append(wrote, one), append(at, len(p.text))
		p.text = p.write(p.text, l, unsafe.Pointer(&one))
	}
	for i := range wrote {
		var read leaf
		from := reader{text: p.text[at[i]:], shared: p.shared}
		from.read(l, unsafe.Pointer(&read))
		tidy(&wrote[i])
		if !reflect.DeepEqual(read, wrote[i]) {
			t.Fatalf("wrote %+v\nread  %+v", wrote[i], read)
		}
		if end := len(p.text) - len(from.text); i+1 < len(at) && end != at[i+1] {
			t.Fatalf("it ends at %d, and the next begins at %d", end, at[i+1])
		}
	}
}

// tidy makes the empty lists of v nil.
func tidy(v *leaf) {
	if len(v.Few) == 0 {
		v.Few = nil
	}
	if len(v.Pair) == 0 {
		v.Pair = nil
	}
	if len(v.Some) == 0 {
		v.Some = nil
	}
	if len(v.Share) == 0 {
		v.Share = nil
	}
	if v.To != nil && len(v.To.More) == 0 {
		v.To.More = nil
	}
}

// A field that the codec cannot keep is found when the process starts.
func TestTheCodecRefusesWhatItCannotKeep(t *testing.T) {
	for _, no := range []any{struct{ C chan int }{}, struct{ F func() }{}, struct{ M map[string]int }{},
		struct{ P *bool }{}, struct{ I any }{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("it takes a %T", no)
				}
			}()
			layoutOf(reflect.TypeOf(no))
		}()
	}
}
