package usage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Counter counts the instructions that processes execute outside of the kernel: unlike time, as good as the same on a
// busy machine.
type Counter struct{ fds []int }

// Instructions begins to count those of all threads that pids have now, and of the threads that these start.
func Instructions(pids []int) (*Counter, error) {
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	c := new(Counter)
	for _, pid := range pids {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		for _, t := range tasks {
			tid, _ := strconv.Atoi(t.Name()) // its name is its number
			fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			if err != nil {
				return nil, errors.Join(fmt.Errorf("instructions of %d: %w", tid, err), c.Close())
			}
			c.fds = append(c.fds, fd)
		}
	}
	return c, nil
}

// Count returns the number so far.
func (c *Counter) Count() (uint64, error) {
	var sum uint64
	for _, fd := range c.fds {
		var value [8]byte
		if _, err := unix.Read(fd, value[:]); err != nil {
			return 0, err
		}
		sum += binary.NativeEndian.Uint64(value[:])
	}
	return sum, nil
}

// Close ends the count.
func (c *Counter) Close() error {
	var errs []error
	for _, fd := range c.fds {
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}
