package stream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// reader is a client that reads everything.
type reader struct{ bytes.Buffer }

func (r *reader) Send(p []byte) error {
	_, err := r.Write(p)
	return err
}

func (*reader) SetWriteDeadline(time.Time) error { return nil }

// Whatever is put and whenever it is emptied, it goes out once and in order, though the memory that it was given is
// used again.
func TestAnOutboxSendsWhatItWasGiven(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w := new(reader)
		var o Outbox
		var want []byte
		memory := make([]byte, 2*outboxSize)
		for range rng.IntN(40) {
			if err := o.Own(w); err != nil {
				t.Fatal(err)
			}
			part := memory[:1+rng.IntN([]int{200, outboxSize / 2, len(memory)}[rng.IntN(3)])]
			for i := range part {
				part[i] = byte(rng.Uint32())
			}
			want = append(want, part...)
			if err := o.Put(w, part); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(4) == 0 {
				_ = o.Empty(w)
				if o.page != nil || o.lone != nil {
					t.Fatal("an empty outbox holds memory")
				}
			}
		}
		_ = o.Empty(w)
		if !bytes.Equal(w.Bytes(), want) {
			t.Fatalf("%d bytes of %d, or others", w.Len(), len(want))
		}
	}
}

func TestAnUnboundOutboxWritesNothingBeforeItIsEmptied(t *testing.T) {
	w := new(reader)
	o := Outbox{unbound: true}
	var want []byte
	for i := range 500 {
		part := fmt.Appendf(nil, "data: %d\n\n", i)
		want = append(want, part...)
		if o.Put(w, part) != nil || o.Own(w) != nil || w.Len() > 0 {
			t.Fatal("it wrote")
		}
		clear(part)
	}
	if err := o.Empty(w); err != nil || !bytes.Equal(w.Bytes(), want) {
		t.Errorf("%d bytes of %d: %v", w.Len(), len(want), err)
	}
}
