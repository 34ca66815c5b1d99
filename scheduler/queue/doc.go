// Package queue orders the requests that wait for one engine: by priority, then by the tenants' shares, then by
// arrival.
//
//		            Push · Remove · Lift                  Before: what comes, without changing it
//		                    │                                        ▲
//		Backlog ── levels ── tenants ── requests         Preview ────┘
//		              │         └── Heap by tag            DrainRate: how fast requests leave
//		              └── highest first
//
//	 1. A request is in one lane, in one account, and in one position of one heap; Check proves it.
//	 2. A tag never goes back below its lane's now, so that no tenant saves up while it is away.
//	 3. A lane is never empty, nor is an account that waits.
package queue
