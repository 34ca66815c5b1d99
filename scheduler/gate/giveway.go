package gate

// Preempted is closed when a more urgent request needs the place: cancel upstream, Release, and Admit again with Resume
// and the first Arrived. It is never closed for a request that is no Victim.
func (t *Ticket) Preempted() <-chan struct{} {
	t.gate.gateMu.Lock()
	defer t.gate.gateMu.Unlock()
	if t.giveUp == nil && t.mayYield {
		t.giveUp = make(chan struct{})
		if t.yielding {
			close(t.giveUp)
		}
	}
	return t.giveUp
}

// Yielding reports whether Preempted is closed. It takes no lock.
func (t *Ticket) Yielding() bool { return t.yielded.Load() }

// Watcher is who is to be told that a ticket has to give way.
type Watcher interface{ Preempted() }

// Watch has w told, by a goroutine of its own, when Preempted is closed, or at once where it is; until the next Watch.
// A nil w ends the watch: it may still be hearing of it then, but is not told any more.
func (t *Ticket) Watch(w Watcher) {
	t.gate.gateMu.Lock()
	t.watch = w
	late := t.yielding && w != nil
	t.gate.gateMu.Unlock()
	if late {
		go w.Preempted()
	}
}

// giveWay tells t that it is preempted. Caller holds gateMu.
func (t *Ticket) giveWay() {
	t.yielding = true
	t.yielded.Store(true)
	t.gate.totals.preemptions++
	if t.giveUp != nil {
		close(t.giveUp)
	}
	if t.watch != nil {
		go t.watch.Preempted()
	}
}
