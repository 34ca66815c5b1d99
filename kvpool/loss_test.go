package kvpool

import (
	"testing"

	"pgregory.net/rapid"
)

// Loss says what releasing frees and what others keep, by releasing and looking.
func TestLossIsWhatReleasingShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, err := NewPool(40, 4)
		if err != nil {
			t.Fatal(err)
		}
		tables, chains := make([]Table, 4), make([][]BlockHash, 4)
		for i := range tables {
			word := rapid.Uint32Range(0, 1).Draw(t, "word")
			n := rapid.IntRange(1, 8).Draw(t, "blocks")
			chains[i] = chainOf(sequential(4*n, word*100), 4)
			if rapid.Bool().Draw(t, "shares") {
				p.Share(&tables[i], chains[i])
			}
			p.Extend(&tables[i], n+1)
			chains[i] = chains[i][:rapid.IntRange(0, n).Draw(t, "sealed")]
			for j, h := range chains[i] {
				if p.blocks[seen(&tables[i])[j]].run == private {
					p.Seal(&tables[i], j, h)
				}
			}
		}
		i := rapid.IntRange(0, 3).Draw(t, "which")
		freed, kept := p.Loss(&tables[i], chains[i])
		before := p.Free()
		p.Release(&tables[i])
		held := 0
		for held < len(chains[i]) {
			id, ok := p.prefix.find(chains[i][held])
			if !ok || p.refs(id) == 0 {
				break
			}
			held++
		}
		if p.Free()-before != freed || held != kept {
			t.Fatalf("freed %d and kept %d, Loss says %d and %d", p.Free()-before, held, freed, kept)
		}
	})
}
