//go:build !amd64

package runs

import "sync/atomic"

// put64 stores a word that readers may be loading. Stores may pass each other here, so each is a release of its own.
func put64(p *uint64, v uint64) { atomic.StoreUint64(p, v) }

// put32 is put64 for half a word.
func put32(p *uint32, v uint32) { atomic.StoreUint32(p, v) }
