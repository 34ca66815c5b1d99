//go:build unix

package runs

import (
	"runtime"
	"syscall"
	"testing"
)

// cpuTime returns how many nanoseconds this process has computed: on a machine that others share, the time that counts.
func cpuTime() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// threadTime is cpuTime of this goroutine's own thread, which it keeps from now on, where the system tells.
func threadTime() int64 {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if runtime.LockOSThread(); runtime.GOOS != "linux" || syscall.Getrusage(thread, &u) != nil {
		return cpuTime()
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// reportCPU reports the time computed since began for each of b's rounds.
func reportCPU(b *testing.B, began int64) {
	b.ReportMetric(float64(cpuTime()-began)/float64(b.N), "cpu-ns/op")
}
