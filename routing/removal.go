package routing

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"octet/routing/index"
)

// why is a filter's word for having removed a candidate.
type why struct {
	host index.HostID
	word string
}

// reason keeps the words of a filter for those that it has removed, as they are now.
func (r *record) reason(f *filter, v View) {
	says, ok := f.Filter.(Reasoner)
	if !ok {
		return
	}
	last := &r.cuts[len(r.cuts)-1]
	removed := r.before(len(r.cuts) - 1).AndNot(last.left)
	for h := range removed.All() {
		if word := says.Reason(v, h); word != "" {
			last.why = append(last.why, why{h, word})
		}
	}
}

// before returns what was left before a cut.
func (r *record) before(cut int) *index.HostBitmap {
	if cut == 0 {
		return &r.candidates
	}
	return &r.cuts[cut-1].left
}

// words counts what the filters said of the candidates that they removed, as in "2 asleep, 1 down".
func (r *record) words() error {
	count := map[string]int{}
	for i := range r.cuts {
		for _, y := range r.cuts[i].why {
			count[y.word]++
		}
	}
	if len(count) == 0 {
		return nil
	}
	var b strings.Builder
	for i, word := range slices.Sorted(maps.Keys(count)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", count[word], word)
	}
	return errors.New(b.String()) //nolint:err113 // an explanation: what it is about is NoCandidateError
}

// removed returns what became of a candidate at the filters.
func (r *record) removed(h index.HostID) CandidateTrace {
	c := CandidateTrace{Host: h}
	for i := range r.cuts {
		if r.cuts[i].left.Has(h) {
			continue
		}
		c.RemovedBy = r.profile.filters[r.cuts[i].filter].name
		for _, y := range r.cuts[i].why {
			if y.host == h {
				c.Why = y.word
			}
		}
		break
	}
	return c
}
