package gate

import (
	"fmt"

	"octet/scheduler"
)

// awaited is the leases whose first token is awaited, in the order of their admission. One that the first token of a
// later one overtook is not among them: its engine computes prompts in another order, or has forgotten it, and how long
// it takes says nothing of those that come.
type awaited struct {
	eldest, youngest *Lease
}

func (w *awaited) add(l *Lease) {
	l.earlier = w.youngest
	if w.youngest != nil {
		w.youngest.later = l
	} else {
		w.eldest = l
	}
	w.youngest = l
}

// has reports whether l is among them.
func (w *awaited) has(l *Lease) bool { return l.earlier != nil || w.eldest == l }

// remove takes l out, if it is among them.
func (w *awaited) remove(l *Lease) {
	if !w.has(l) {
		return
	}
	if l.earlier != nil {
		l.earlier.later = l.later
	} else {
		w.eldest = l.later
	}
	if l.later != nil {
		l.later.earlier = l.earlier
	} else {
		w.youngest = l.earlier
	}
	l.earlier, l.later = nil, nil
}

// came takes l out, whose first token came, and those that it overtook.
func (w *awaited) came(l *Lease) {
	if !w.has(l) {
		return
	}
	for w.eldest != l {
		w.remove(w.eldest)
	}
	w.remove(l)
}

// check proves that the leases are in order, linked both ways, and awaited.
func (w *awaited) check() error {
	var before *Lease
	for l := w.eldest; l != nil; before, l = l, l.later {
		if l.earlier != before || !l.prefilling || l.released || before != nil && before.admitted > l.admitted {
			return fmt.Errorf("%w: ticket %s among those whose first tokens are awaited", scheduler.ErrCorrupt, l.id)
		}
	}
	if w.youngest != before {
		return fmt.Errorf("%w: the last of those whose first tokens are awaited", scheduler.ErrCorrupt)
	}
	return nil
}
