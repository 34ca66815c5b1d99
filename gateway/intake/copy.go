package intake

import (
	"bytes"
	"time"
)

// Copy returns the request as another specialist is asked it beside the answer: the body in memory of its own, another
// priority, and no deadline, adapter, session or replica. Its intent and headers are kept, so that rules of profiles
// choose for it as for a request. It is dry: it leaves no trace in what plugins learn. It is not parsed yet, see Parse,
// and counts in no Memory.
func (q *Request) Copy(priority int, now time.Time) *Request {
	return &Request{ID: q.ID, Arrival: now, Dry: true, Kind: q.Kind, Tenant: q.Tenant,
		Intent: Intent{Intent: q.Intent.Intent, Priority: priority, Headers: q.Intent.Headers},
		Stream: q.Stream, Body: &Body{Bytes: bytes.Clone(q.Bytes)}, limits: q.limits,
		forwarded: q.forwarded, traced: q.traced}
}
