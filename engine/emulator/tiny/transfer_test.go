package tiny_test

import (
	"bytes"
	"errors"
	"testing"

	"octet/engine/emulator/tiny"
	"octet/kvpool"
)

func TestSnapshotsTravelAsBytes(t *testing.T) {
	m := tiny.NewModel(7, []uint32{1, 2, 3, 4, 5}, false)
	table := []kvpool.BlockID{2, 0}
	e := tiny.NewEngine(m, 3, 4)
	prompt := []uint32{5, 4, 3, 2, 1, 2, 3}
	want, _ := e.Compute(nil, tiny.Span{Table: table, Tokens: prompt, Samples: true})
	b := e.Snapshot(table, len(prompt)).AppendBinary(nil)
	s, err := tiny.ReadSnapshot(b)
	if err != nil || s.Tokens() != len(prompt) || !bytes.Equal(s.AppendBinary(nil), b) {
		t.Fatalf("%v, %d tokens", err, s.Tokens())
	}
	other := tiny.NewEngine(m, 3, 4)
	table = []kvpool.BlockID{1, 2}
	other.Import(table, s, 0, len(prompt)-1)
	got, _ := other.Compute(nil,
		tiny.Span{Table: table, Start: len(prompt) - 1, Tokens: prompt[len(prompt)-1:], Samples: true})
	if got[0] != want[0] {
		t.Errorf("goes on with %d, want %d", got[0], want[0])
	}
	for _, bad := range [][]byte{nil, b[:3], b[:len(b)-1], append(b, 0), {0xff, 0xff, 0xff, 0xff}} {
		if _, err := tiny.ReadSnapshot(bad); !errors.Is(err, tiny.ErrTransfer) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}
