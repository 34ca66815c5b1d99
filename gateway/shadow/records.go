package shadow

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"octet/calibration"
	"octet/classifier"
)

// Stream takes calibration records. Offer never blocks: it drops what it cannot take, counts it, and returns false.
type Stream interface {
	Offer(r calibration.Record) bool
}

// Records sends calibration records on, and in between tallies of all requests' confidences. Safe for concurrent use.
type Records struct {
	stream Stream // nil if nothing is kept
	now    func() time.Time

	mu      sync.Mutex
	tallies map[string]*calibration.Tally // by intent; guarded by mu
}

// NewRecords returns Records that go to stream, which may be nil.
func NewRecords(stream Stream, now func() time.Time) *Records {
	return &Records{stream: stream, now: now, tallies: map[string]*calibration.Tally{}}
}

// Offer sends a record on, with the time.
func (r *Records) Offer(record calibration.Record) {
	if r.stream != nil {
		record.V, record.Time = calibration.Version, r.now()
		r.stream.Offer(record)
	}
}

// Tally counts a request that the classifier has decided.
func (r *Records) Tally(v *classifier.Verdict) {
	if r.stream == nil || v.RoutedBy != classifier.ByClassifier {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tallies[v.Intent]
	if t == nil {
		t = &calibration.Tally{Intent: v.Intent}
		r.tallies[v.Intent] = t
	}
	t.Threshold = v.ShadowThreshold
	t.Counts[calibration.Bucket(v.Confidence)]++
}

// Run sends tallies on until ctx ends, at the interval in force; zero is a minute.
func (r *Records) Run(ctx context.Context, interval func() time.Duration) {
	for {
		next := time.NewTimer(cmp.Or(interval(), time.Minute))
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
			r.Flush()
		}
	}
}

// Flush sends all tallies on and begins new ones.
func (r *Records) Flush() {
	r.mu.Lock()
	tallies := r.tallies
	r.tallies = map[string]*calibration.Tally{}
	r.mu.Unlock()
	for _, intent := range slices.Sorted(maps.Keys(tallies)) {
		r.Offer(calibration.Record{Tally: tallies[intent]})
	}
}
