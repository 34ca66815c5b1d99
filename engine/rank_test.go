package engine_test

import (
	"testing"

	"octet/engine"
)

func TestARankIsANumberOrNone(t *testing.T) {
	for n, want := range map[int]string{-1: "", 0: "0", 7: "7", engine.MaxRank: "1023", engine.MaxRank + 1: ""} {
		r := engine.RankOf(&n)
		if got, ok := r.Number(); r.String() != want || ok != (want != "") || ok && got != n {
			t.Errorf("%d: %q, %d, %t", n, r, got, ok)
		}
	}
	if _, ok := engine.RankOf(nil).Number(); ok {
		t.Error("nil is no rank")
	}
}
