package apptest

// Quiet returns true if the ledgers of Gates, fleet and engines are back at their baseline: nothing is held, and
// nothing waits.
func (w *World) Quiet() bool {
	for _, rep := range w.App.Server().Runtime().Replicas {
		if rep == nil {
			continue
		}
		if s := rep.Gate.Stats(); s.Used+s.Reserved+s.Waiting+s.Running+s.Preempting != 0 || s.Free != s.Total ||
			rep.Gate.Check() != nil {
			return false
		}
		if l := rep.Fleet.Load(); l.InFlight+l.Backlog+l.Tokens != 0 {
			return false
		}
	}
	for _, e := range w.Engines {
		if s := e.Stats(); s.Used+s.Reserved+s.Waiting+s.Running != 0 {
			return false
		}
	}
	return true
}
