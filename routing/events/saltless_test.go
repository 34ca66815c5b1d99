package events

import (
	"testing"

	"octet/kvpool"
)

// Where some prompts have a salt, blocks whose event cannot say one belong to no prompt: they are known to be there,
// and stand for none.
func TestBlocksOfWhichNoSaltCanBeSaidStandForNoPrompt(t *testing.T) {
	for salts, want := range map[bool]int{false: 2, true: 0} {
		m := newMapping(100, &tally{}, nil)
		to := Target{Specialist: "debug", BlockSize: 2, Salts: salts}
		e := Event{Kind: Registered, Hashes: []uint64{1, 2}, Root: true, Tokens: []uint32{1, 2, 3, 4}, BlockSize: 2,
			Saltless: true}
		m.change(&e, to, kvpool.NewHasher(7))
		next := Event{Kind: Registered, Hashes: []uint64{3}, Parent: 2, Tokens: []uint32{5, 6}, BlockSize: 2}
		m.change(&next, to, kvpool.NewHasher(7))
		if want > 0 {
			want++ // and what follows
		}
		if len(m.ours) != want || m.misfit(to) != salts || len(m.blocks) != 3 {
			t.Errorf("salts %v: %d of %d blocks stand for prompts, misfit %v", salts, len(m.ours), len(m.blocks),
				m.misfit(to))
		}
	}
}
