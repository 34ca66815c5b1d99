package adapters

import "slices"

// MarkLoaded notes that host has loaded adapter. Idempotent; ErrFull when a bound is reached, and then nothing changes.
func (r *Residency) MarkLoaded(host uint16, adapter string) error {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	return r.publish(host, with(r.On(host), adapter))
}

// MarkUnloaded notes that host no longer has adapter. Idempotent.
func (r *Residency) MarkUnloaded(host uint16, adapter string) {
	r.writeMu.Lock()
	defer r.writeMu.Unlock()
	if names := r.On(host); slices.Contains(names, adapter) {
		r.mustPublish(host, without(names, adapter))
	}
}
