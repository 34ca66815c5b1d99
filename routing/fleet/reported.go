package fleet

import "slices"

// Reported is what an engine says of itself, as last scraped. What it does not say it does not have.
type Reported struct {
	Running, Waiting int     // requests, of any gateway
	Others           int     // of Running, those that are not of this gateway
	KVUsage          float64 // used part of its KV pool, 0 … 1
	HasLoad          bool    // Running and Waiting
	HasUsage         bool    // KVUsage

	HasAdapters     bool
	MaxAdapters     int      // resident at once
	RunningAdapters []string // in the batch
	WaitingAdapters []string // of queued requests
}

// Reports notes what the engine reports of itself. It must not be changed afterwards.
func (o *occupancy) Reports(said *Reported) {
	o.reported.Store(said)
	o.ledger.change(oneEvent)
}

// Reported returns what the engine reported last, read-only; the zero Reported before the first report.
func (o *occupancy) Reported() *Reported {
	if said := o.reported.Load(); said != nil {
		return said
	}
	return &noReport
}

var noReport Reported

// Runs returns true if requests with the adapter are in the engine's batch.
func (r *Reported) Runs(adapter string) bool { return slices.Contains(r.RunningAdapters, adapter) }

// Queues returns true if requests with the adapter wait for a place in it.
func (r *Reported) Queues(adapter string) bool { return slices.Contains(r.WaitingAdapters, adapter) }
