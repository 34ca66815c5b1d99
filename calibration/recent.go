package calibration

import (
	"strings"
	"sync"
)

// Recent keeps the newest records, without their texts, for a Report at any time. Safe for concurrent use.
type Recent struct {
	keep int // records

	mu   sync.Mutex
	ring []Record // guarded by mu, as all below
	next int      // where the next one goes, once ring is full
	put  uint64   // records, ever

	reportMu sync.Mutex // held to make a report: one at a time, and before mu
	last     *told      // guarded by reportMu; nil before the first
}

// told is a report, and what it was made for.
type told struct {
	goal   Goal
	put    uint64
	report Report
}

// NewRecent returns a Recent of at most keep records, and at least one.
func NewRecent(keep int) *Recent { return &Recent{keep: max(keep, 1)} }

// Offer keeps r; the oldest record makes room. It shares no memory with r but a tally's counts, which are not changed.
func (k *Recent) Offer(r Record) bool {
	r = slim(r)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.put++
	if len(k.ring) < k.keep {
		k.ring = append(k.ring, r)
		return true
	}
	k.ring[k.next] = r
	k.next = (k.next + 1) % k.keep
	return true
}

// slim returns what a Study reads of a record.
func slim(r Record) Record {
	switch {
	case r.Example != nil:
		x := r.Example
		r.Example = &Example{Intent: strings.Clone(x.Intent), Primary: x.Primary.clone(), Shadow: x.Shadow.clone(),
			Confidence: clone(x.Confidence), Threshold: x.Threshold, Cause: x.Cause,
			Comparison: Comparison{Class: x.Class, Form: x.Form, Calls: x.Calls}}
	case r.Verdict != nil:
		v := r.Verdict
		r.Verdict = &Verdict{Intent: strings.Clone(v.Intent), Lane: v.Lane.clone(), Confidence: clone(v.Confidence),
			Pass: v.Pass}
	}
	return r
}

func (l Lane) clone() Lane {
	return Lane{strings.Clone(l.Specialist), strings.Clone(l.Adapter), strings.Clone(l.Version)}
}

func clone(p *float64) *float64 {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Report says what the records that are kept are evidence of, as a Study of them does. The report before is given again
// if nothing has come since.
func (k *Recent) Report(g Goal) (Report, error) {
	k.reportMu.Lock()
	defer k.reportMu.Unlock()
	k.mu.Lock()
	put := k.put
	if k.last != nil && k.last.put == put && k.last.goal == g {
		k.mu.Unlock()
		return k.last.report, nil
	}
	var s Study
	for i := range k.ring {
		s.Add(k.ring[(k.next+i)%len(k.ring)])
	}
	k.mu.Unlock()
	r, err := s.Report(g)
	if err == nil {
		k.last = &told{g, put, r}
	}
	return r, err
}
