// Package plan is a request's way through the pipeline of one specialist.
//
//	Request ─▶ facts ─▶ replicas that take the body ─▶ Workflow ─▶ routing.Plan
//	                                                      │
//	                                                      └▶ Prompt, Predicted, Hint: what is known of it there
//
// The answer, a stream that goes on elsewhere, shadows and POST /v1/route are planned here.
//
//  1. A dry request leaves no trace in what plugins learn.
//  2. The chain of Prompt lies in the memory of the routing until Release, which copies it if it is kept.
package plan
