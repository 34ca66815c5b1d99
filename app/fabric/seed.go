package fabric

import (
	"crypto/rand"
	"encoding/binary"
	"os"

	"octet/config"
	"octet/routing/events"
)

// HashSeed returns the seed of block hashes: the configured one; else that of the snapshot file, which is of no use
// under another; else a random one, so that clients cannot choose prompts by their hashes.
func HashSeed(cfg *config.Config) uint64 {
	if cfg.HashSeed != 0 {
		return cfg.HashSeed
	}
	if seed := snapshotSeed(cfg.Events.Snapshot.File); seed != 0 {
		return seed
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return binary.NativeEndian.Uint64(random[:]) | 1
}

// snapshotSeed returns the seed that a snapshot was written under; 0 if it cannot be told.
func snapshotSeed(path string) uint64 {
	if path == "" {
		return 0
	}
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	seed, err := events.SnapshotSeed(f)
	if err != nil {
		return 0
	}
	return seed
}
