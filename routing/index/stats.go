package index

// Stats is the size of an index and what it has done.
type Stats struct {
	Entries int    // distinct blocks in the index
	Blocks  int    // residencies: blocks counted once for each replica that holds them
	Runs    int    // stretches of blocks that the run index keeps together
	Bytes   int64  // taken, tier maps included (those, and all of the reference's, by estimate)
	Refused uint64 // blocks that were not recorded because there was no room
	Evicted uint64 // distinct blocks that were removed to make room for others
	Lookups uint64 // lookups by queries: of runs, in the reference of shards
	Locked  uint64 // locks taken by writers
	Hints   uint64 // times a tier map was read for a winner
}

// HostState is one slot.
type HostState struct {
	Generation uint32 // how many replicas have had the slot
	Epoch      uint64
	LastSeq    uint64
	Stale      bool // events are missing; until a Resync, a new epoch or a Clear
	Alive      bool
	Gaps       uint64 // times events were found missing
	Resyncs    uint64
	Blocks     int // held in at least one tier
	// the reference alone: of these, how many are not known to have the block before them here, so that queries scan
	Detached int
}
