package kvpool

// Loss returns what releasing t would free, and how many leading blocks of chain some other table would still hold, so
// that they are sure to be found again. Cached blocks that nobody else holds are not counted: whoever is short of blocks
// takes them next. Chain names what t's first blocks hold. O(len(t)) and one probe for each kept block.
func (p *Pool) Loss(t *Table, chain []BlockHash) (freed, kept int) {
	freed = len(t.blocks)
	shared := p.shared
	for _, id := range t.blocks {
		freed -= int(shared[id>>6] >> (id & 63) & 1)
	}
	for i, h := range chain {
		id, ok := p.prefix.find(h)
		if !ok {
			break
		}
		others := p.blocks[id].refs
		if t.blocks[i] == id {
			others--
		}
		if others == 0 {
			break
		}
		kept++
	}
	return freed, kept
}
