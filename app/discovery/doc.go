// Package discovery finds replicas that no configuration lists, and says which of them the next generation has.
//
//	file  dns  kubernetes          POST /admin/replicas
//	  │    │    │  whole sets            │
//	  ▼    ▼    ▼                        ▼
//	Sources: the last good set of     Leases: registrations
//	each source and specialist           │  that have not run out
//	  └───────────────┬──────────────────┘
//	                  ▼
//	 the configuration + Members.Merge ──▶ Plan: a configuration like any other, and what was left out of it, and why
//	                                         │  Loop: not more often than is cheap
//	                                         ▼
//	                                     app: a generation, as of a reload
//
// Invariants:
//
//  1. A source that fails takes nothing away: its last set stays, and it is shown as failing.
//  2. What the configuration lists wins over what is found, and what is in force over what is new: neither a name nor a
//     URL nor a slot is ever taken from a replica that serves.
//  3. A plan has at most config.MaxReplicas replicas, no more new ones than there are free slots, and no fault.
//  4. A replica that is found no more stays for fleet.discovery.keep without new requests, with all that is known of
//     it, unless its slot is needed.
package discovery
