package intake

import (
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestHexDigitsAreThoseOfTheNumber(t *testing.T) {
	for range 10_000 {
		v := rand.Uint32()
		var text [8]byte
		binary.BigEndian.PutUint64(text[:], hexDigits(v))
		if got, err := strconv.ParseUint(string(text[:]), 16, 32); err != nil || uint32(got) != v ||
			strings.ToLower(string(text[:])) != string(text[:]) {
			t.Fatalf("%08x is written %q", v, text)
		}
	}
}

func TestNoIDIsGivenTwice(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if len(id) != idLength || !WellFormed(id) || seen[id] {
			t.Fatalf("%q, seen before: %v", id, seen[id])
		}
		seen[id] = true
	}
}
