package peers

import "time"

// part is what one gateway has at one replica.
type part struct {
	work Work
	of   *total
	at   int // in of.parts
}

// total is what all the others that count have at one replica.
type total struct {
	sum     Work    // as of the last Changes
	parts   []*part // without idle ones
	changed bool    // since then
}

func (t *total) add(p *part) {
	p.of, p.at = t, len(t.parts)
	t.parts = append(t.parts, p)
}

// before returns true if what is next of w is to start before what is next of o.
func (w *Work) before(o *Work) bool {
	if w.Urgent != o.Urgent {
		return w.Urgent > o.Urgent
	}
	if w.Had != o.Had {
		return w.Had < o.Had
	}
	return w.Tenant < o.Tenant
}

func (t *total) remove(p *part) {
	last := len(t.parts) - 1
	t.parts[p.at] = t.parts[last]
	t.parts[p.at].at = p.at
	t.parts[last] = nil
	t.parts = t.parts[:last]
}

// addUp sets the sum. The mean time of an answer is by the sequences of each that has measured one, and one
// more: so one that has none there now counts a little. The order of the parts does not matter.
func (t *total) addUp() {
	var sum Work
	var weighed, weight float64 // milliseconds and sequences, whole numbers: exact in any order
	var next *Work              // of those that wait
	for _, p := range t.parts {
		w := &p.work
		sum.Running, sum.Waiting, sum.Backlog = sum.Running+w.Running, sum.Waiting+w.Waiting, sum.Backlog+w.Backlog
		sum.Left, sum.Tokens, sum.Blocks = sum.Left+w.Left, sum.Tokens+w.Tokens, sum.Blocks+w.Blocks
		if w.Answer > 0 {
			n := float64(w.Running + 1)
			weighed, weight = weighed+n*float64(w.Answer/time.Millisecond), weight+n
		}
		if w.Waiting > 0 && (next == nil || w.before(next)) {
			next = w
		}
	}
	if weight > 0 {
		sum.Answer = time.Duration(weighed / weight * float64(time.Millisecond))
	}
	if next != nil {
		sum.Urgent, sum.Tenant, sum.Had = next.Urgent, next.Tenant, next.Had
	}
	t.sum = sum
}
