package core

import (
	"octet/scheduler"
)

// Report is what one step was, for telemetry.
type Report struct {
	Step     uint64
	Adapter  string         // as of Batch
	Requests int            // in the batch
	Computed int            // tokens of prompts and answers that were computed, without drafts
	Sampled  int            // tokens that the engine said; 0 of a step that failed
	Took     scheduler.Time // from its assembly until its results were there
	Failed   bool           // nothing of it was settled
}

// newReport reports a step that is settled.
func newReport(b *Batch, results []Result, took scheduler.Time, failed bool) Report {
	r := Report{Step: b.Step, Adapter: b.Adapter, Requests: len(b.Items), Took: took, Failed: failed}
	for i := range b.Items {
		r.Computed += len(b.Items[i].Tokens)
	}
	if !failed {
		for i := range results {
			r.Sampled += len(results[i].Tokens)
		}
	}
	return r
}
