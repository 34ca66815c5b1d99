package cmd

import (
	"crypto/rand"
	"encoding/binary"
	"os"

	"octet/config"
	"octet/routing/events"
)

// hashSeed is the seed of block hashes: the configured one; else that of the snapshot that is on disk, which is of no
// use under another; else one drawn at random, so that nobody outside can choose prompts by their hashes.
func hashSeed(cfg *config.Config) uint64 {
	if cfg.HashSeed != 0 {
		return cfg.HashSeed
	}
	if seed := savedSeed(cfg.Events.Snapshot.File); seed != 0 {
		return seed
	}
	var drawn [8]byte
	_, _ = rand.Read(drawn[:]) // never fails
	return binary.NativeEndian.Uint64(drawn[:]) | 1
}

// savedSeed is the seed that a snapshot was written under; 0 if it cannot be told.
func savedSeed(path string) uint64 {
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
