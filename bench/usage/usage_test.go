package usage

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestProcessorTimeIsThatOfTheProcessAlone(t *testing.T) {
	idle := exec.Command("sleep", "30")
	if err := idle.Start(); err != nil {
		t.Skip(err)
	}
	defer func() {
		_ = idle.Process.Kill()
		_ = idle.Wait()
	}()
	me := []int{os.Getpid()}
	mine, err := CPU(me)
	if err != nil {
		t.Fatal(err)
	}
	for grown := mine; grown < mine+20*time.Millisecond; {
		if grown, err = CPU(me); err != nil {
			t.Fatal(err)
		}
	}
	if its, err := CPU([]int{idle.Process.Pid}); err != nil || its > 15*time.Millisecond {
		t.Errorf("one that sleeps has used %v: %v", its, err)
	}
	if all := Family(os.Getpid()); !slices.Contains(all, idle.Process.Pid) {
		t.Errorf("%d is not in %v", idle.Process.Pid, all)
	}
	if size, err := RSS(me); err != nil || size < 1<<20 {
		t.Errorf("%d bytes: %v", size, err)
	}
}
