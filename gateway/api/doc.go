// Package api answers the requests that are not completions: what clients may ask about the ensemble, and what
// operators may see and change.
//
//	clients:    /v1/models  /v1/receipts/{id}  /v1/outcomes  /v1/slo     Models, Receipts, Outcomes, SLOs
//	            /v1/route                                                Explanation
//	operators:  /admin/state  index  breakers  drain  reload  knobs      State, Caches, Replicas, Reload, Knobs
//	            /admin/requests                                          Requests
//	            /admin/replicas                                          Registrations
//	            /metrics                                                 Gauges, SLOGauges
//	both:       /readyz                                                  Ready
//
// 1. A handler is a small type that is given what it needs. None knows the server that it belongs to.
// 2. A handler reads the configuration in force once, so that its answer is of one generation.
// 3. A refusal is an apierr.Error, and goes out through Refuse.
package api
