// Package app is the whole gateway, wired: it alone turns the sections of a configuration into what each room takes. A
// program or a test starts it without a command line: New, Serve, Reload, Close.
//
// What a configuration says becomes a generation. A replica that a new generation does not change keeps its slot, its
// connections, its Gate and its breaker.
//
//	configuration ──build──▶ built ──commit──▶ committed ──commit of a newer one──▶ retired
//	                   │       │                   │                                   │
//	                   │       new replicas        new requests                        replicas that the newer one
//	                   ▼       have slots          go by it                            lacks leave fleet and index;
//	                 error:                                                            requests end where they are
//	                 rollback gives the new slots back; nothing else has changed
//
// Invariants:
//  1. Whatever can fail comes before whatever changes something: a configuration is refused with nothing changed, or it
//     is in force as a whole.
//  2. One generation is built at a time.
//  3. A replica's events and guesses end before its slot can be another's: see app/fabric.
//
// What outlives generations is owned by parts: the fabric (cache events), the replicas, the tokenizers, the identities
// that engines have told, the history of specialists, the tenancy.
package app
