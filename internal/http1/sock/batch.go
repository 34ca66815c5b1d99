package sock

import "runtime"

// singleProc is true if there was one processor to run on at the start.
var singleProc = runtime.GOMAXPROCS(0) == 1

// Batch has what is sent next go out behind all that is ready to run: the sends of many requests then follow one
// another, and a process that waits for them at another processor is woken once for all. Where nothing else is ready,
// it costs a turn of the scheduler.
//
// With several processors it does nothing: the runtime would wake an idle one for the goroutine that stands back.
func Batch() {
	if singleProc {
		runtime.Gosched()
	}
}
