package index

import (
	"sync"
	"testing"
)

func TestAnAccountIsNeverOverdrawnByManyAtOnce(t *testing.T) {
	a := NewAccount(1 << 20)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range int64(5000) {
				if n = 1000 + n%7000; i%2 == 0 && a.Wait(n, 1) {
					defer a.Release(n)
				} else if i%2 == 1 && a.Charge(n, a.limit) {
					defer a.Charge(-n, a.limit)
				}
				a.mu.Lock()
				sum := a.index + a.waiting
				a.mu.Unlock()
				if sum > 1<<20 || a.Waiting() > a.Share() {
					t.Errorf("%d bytes", sum)
				}
			}
		})
	}
	all.Wait()
	if a.Used() != 0 || a.Waiting() != 0 {
		t.Errorf("%d and %d bytes are left", a.Used(), a.Waiting())
	}
}
