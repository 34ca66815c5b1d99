package events

// verify counts the blocks of a chain's beginning that are not called what the engine's scheme calls them.
func (m *mapping) verify(e *Event, scheme Scheme) {
	if scheme == nil || !e.Root || len(e.Tokens) == 0 {
		return
	}
	want, err := scheme.Chain(e.Tokens, e.BlockSize, e.Adapter, e.Salt)
	m.tally.verified.Add(uint64(len(e.Hashes)))
	for i, h := range e.Hashes {
		if err != nil || h != want[i] {
			m.tally.mismatched.Add(1)
			m.alien = true
		}
	}
}

// misfit reports whether what the replica publishes says nothing of our chains: no block has fitted, or the names that
// chains are made of are not the engine's.
func (m *mapping) misfit(to Target) bool {
	return m.odd && len(m.ours) == 0 || m.alien && to.Named
}
