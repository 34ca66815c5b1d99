package allocs_test

import (
	"testing"

	"octet/internal/allocs"
)

var kept []byte

func TestWhatAFunctionAllocatesIsCounted(t *testing.T) {
	if got := allocs.Least(func() { kept = make([]byte, 1<<20) }); got < 1<<20 || got > 2<<20 {
		t.Errorf("a mebibyte is counted as %d bytes", got)
	}
	runs := 0
	most := func() { runs++; kept = make([]byte, runs<<20) }
	if got := allocs.Least(most); runs != 3 || got > 2<<20 {
		t.Errorf("the least of %d runs is %d bytes", runs, got)
	}
}
