package redisstream

import (
	"strconv"
	"strings"
	"time"
)

// entryID is a stream entry's id, milliseconds-sequence. Ids grow along a stream.
type entryID struct{ ms, seq uint64 }

// parseID reads an id as the server writes it; what is not one counts as 0-0.
func parseID(s string) (id entryID) {
	ms, seq, _ := strings.Cut(s, "-")
	id.ms, _ = strconv.ParseUint(ms, 10, 64)
	id.seq, _ = strconv.ParseUint(seq, 10, 64)
	return id
}

// before reports whether id a comes before id b.
func before(a, b string) bool {
	x, y := parseID(a), parseID(b)
	return x.ms < y.ms || x.ms == y.ms && x.seq < y.seq
}

// added returns when the server took the entry, by the server's clock; the zero time when its id does not say.
func added(id string) time.Time {
	ms := parseID(id).ms
	if ms < 1<<32 { // not a clock: an id that the publisher chose
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}
