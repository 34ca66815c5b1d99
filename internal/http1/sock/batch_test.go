package sock

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// With one processor what is ready comes to the point before the send before the first one sends; but for the rounds in
// which the runtime looks elsewhere first, as it does now and then.
func TestBatchLetsAllThatIsReadyRunFirst(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer func(was bool) { singleProc = was }(singleProc)
	for _, singleProc = range []bool{false, true} {
		const each = 4
		together := 0
		for range 100 {
			var prepared atomic.Int32
			done := make(chan int32)
			for range each {
				go func() {
					prepared.Add(1)
					Batch()
					done <- prepared.Load()
				}()
			}
			first := <-done
			for range each - 1 {
				<-done
			}
			if first == each {
				together++
			}
		}
		if singleProc != (together > 50) {
			t.Errorf("singleProc %t: in %d of 100 rounds all were ready before the first was sent", singleProc,
				together)
		}
	}
}
