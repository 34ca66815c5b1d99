package lease

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrOther is what Swap and Drop fail with where something else is there than what was seen.
var ErrOther = errors.New("lease: the value is another one")

// Store holds the value of the link's name. Each method asks once, and returns when ctx ends.
type Store interface {
	// Look returns what is there; the zero Held if nothing is.
	Look(ctx context.Context) (Held, error)
	// Swap puts value where seen is, and returns it as it would be seen. Seen is the zero Held where nothing is to be.
	Swap(ctx context.Context, seen Held, value string) (Held, error)
	// Drop removes what was seen.
	Drop(ctx context.Context, seen Held) error
	// Life returns for how long the store keeps a value that is not swapped; zero if it is not known, or for ever.
	Life() time.Duration
}

// Held is what a store has under a name.
type Held struct {
	Value    string
	Revision uint64 // zero if nothing is there; stores that count their changes make it differ with each
}

// Incarnation is one life of a link, drawn at random.
type Incarnation [16]byte

// stamp returns the value of a claim's nth renewal.
func (i Incarnation) stamp(lease time.Duration, n uint64) string {
	return fmt.Sprintf("%s %d %d", hex.EncodeToString(i[:]), lease.Milliseconds(), n)
}

// wrote reports whether h is a stamp of i.
func (i Incarnation) wrote(h Held) bool {
	return strings.HasPrefix(h.Value, hex.EncodeToString(i[:])+" ")
}

// term returns for how long the holder of h may be silent. What is no stamp has no holder: zero.
func (h Held) term() time.Duration {
	var by string
	var ms, n int64
	if _, err := fmt.Sscanf(h.Value, "%32s %d %d", &by, &ms, &n); err != nil || ms < 0 {
		return 0
	}
	return min(time.Duration(min(ms, maxLease.Milliseconds()))*time.Millisecond, maxLease)
}
