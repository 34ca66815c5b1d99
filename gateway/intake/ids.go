package intake

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// idLength is the length of an id that NewID makes.
const idLength = 32

// NewID returns 16 random bytes as hex, from the runtime's ChaCha8: the next one cannot be guessed.
func NewID() string {
	var text [idLength]byte
	for at := 0; at < len(text); at += 16 {
		r := rand.Uint64()
		binary.LittleEndian.PutUint64(text[at:], hexDigits(uint32(r)))
		binary.LittleEndian.PutUint64(text[at+8:], hexDigits(uint32(r>>32)))
	}
	return string(text[:])
}

// Digits returns what of an id NewID has made, without the name of a gateway before it.
func Digits(id string) string { return id[max(0, len(id)-idLength):] }

// hexDigits returns the eight digits of v, a byte each, the lowest in the lowest.
func hexDigits(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letters*('a'-'0'-10)
}

// RequestID returns given if it is well formed, else a new id.
func RequestID(given string) string {
	if id := givenID(given); id != "" {
		return id
	}
	return NewID()
}

// givenID returns given if it is well formed, else "".
func givenID(given string) string {
	if WellFormed(given) {
		return strings.Clone(given) // a copy: receipts outlive the head
	}
	return ""
}

// WellFormed returns true if given may be an id: 1 to 128 letters, digits, "-", "_" and ".".
func WellFormed(given string) bool {
	if given == "" || len(given) > 128 {
		return false
	}
	for i := range len(given) {
		c := given[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
