// Package gate admits requests to one engine that batches itself. The engine's scheduler cannot be asked, so it is
// modelled: its pool with the prefix cache, what runs, and how fast.
//
//	Ask, Admit              FirstToken · Grow · Release · Complete        Reconcile · Reconfigure · Cleared
//	     │                             │                                              │
//	┌────▼─────────────────────────────▼──────────────────────────────────────────────▼─────┐
//	│ Gate, Ticket, Wait: the lock, the clock, and the wake-ups                              │
//	│  ┌──────────────────────────────────────────────────────────────────────────────────┐  │
//	│  │ Model: pure; the time is an argument                                             │  │
//	│  │   waiting ──fits? in time?──▶ engine: roster  which leases run                   │  │
//	│  │      │                                ledger  which blocks they hold             │  │
//	│  │      └─ forecast: when it is           rates   how fast, measured                │  │
//	│  │         one's turn            preemption: victims, within the redo budget        │  │
//	│  └──────────────────────────────────────────────────────────────────────────────────┘  │
//	└────┬──────────────────────────────────────────────────────────────────────────────┬────┘
//	     ▼ Effects: waiters that were settled                                            ▼ leases that must give way
//
// Beside the Model, Book tells the clients of a crowd when to come back.
//
// Beside the invariants of package scheduler these hold, proven by Check:
//
//  12. While a block is overcommitted none is free and no request is admitted; blocks that come free cover the oldest
//     lease first.
//  13. What makes room wakes the waiters that it admits, and no other.
//  14. A waiter at the head that fits is admitted at once, unless a deadline holds it back, or a later request of
//     its tenant and level goes ahead with an adapter that is at hand.
//  15. A request is overtaken at most AdapterBounds.Overtakes times by later ones of its tenant and level, and never if
//     it has a deadline or resumes.
package gate
