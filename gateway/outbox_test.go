package gateway

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"testing"
)

// Whatever is put and whenever it is emptied, it goes out once and in order, though the memory that it was given is
// used again.
func TestAnOutboxSendsWhatItWasGiven(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w := &sink{header: http.Header{}, keep: true}
		var o outbox
		var want []byte
		memory := make([]byte, 2*outboxSize)
		for range rng.IntN(40) {
			if err := o.settle(w); err != nil {
				t.Fatal(err)
			}
			part := memory[:1+rng.IntN([]int{200, outboxSize / 2, len(memory)}[rng.IntN(3)])]
			for i := range part {
				part[i] = byte(rng.Uint32())
			}
			want = append(want, part...)
			if err := o.put(w, part); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(4) == 0 {
				_ = o.empty(w)
				if o.page != nil || o.lone != nil {
					t.Fatal("an empty outbox holds memory")
				}
			}
		}
		_ = o.empty(w)
		if !bytes.Equal(w.body.Bytes(), want) {
			t.Fatalf("%d bytes of %d, or others", w.body.Len(), len(want))
		}
	}
}
