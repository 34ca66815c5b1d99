package gate

// Pin ends t's being a victim: from its return on nobody can take the place. False when t was told to give way before.
func (t *Ticket) Pin() bool {
	g := t.gate
	g.gateMu.Lock()
	defer g.gateMu.Unlock()
	if t.yielding {
		return false
	}
	t.mayYield = false
	return true
}
