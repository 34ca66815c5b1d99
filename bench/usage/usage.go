// Package usage reads what a process and its children have used.
package usage

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Family returns pid and all that descend from it: a server may have workers.
func Family(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", all[i]))
		for _, t := range tasks {
			text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", all[i], t.Name()))
			for _, f := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(f); err == nil {
					all = append(all, child)
				}
			}
		}
	}
	return all
}

// CPU returns the processor time of pids so far, to the nanosecond: the kernel's clock of each process, which counts
// threads that have ended and nothing that other processes did to the machine.
func CPU(pids []int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		var ts unix.Timespec
		clock := int32(^pid<<3 | 2) // the scheduler's clock of that process, see clock_getcpuclockid(3)
		if err := unix.ClockGettime(clock, &ts); err != nil {
			return 0, fmt.Errorf("the processor time of %d: %w", pid, err)
		}
		sum += time.Duration(ts.Nano())
	}
	return sum, nil
}

// RSS returns the resident memory of pids, in bytes.
func RSS(pids []int) (int64, error) {
	var sum int64
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			return 0, err
		}
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += pages * int64(os.Getpagesize())
	}
	return sum, nil
}
