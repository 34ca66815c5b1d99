package runs

// put64 stores a word that readers may be loading. Stores become visible in program order here, so a plain one will do
// between the atomic ones that begin and end a change.
func put64(p *uint64, v uint64) { *p = v }

// put32 is put64 for half a word.
func put32(p *uint32, v uint32) { *p = v }
