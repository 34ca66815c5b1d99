package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
)

// Secret is what a gateway tells the seals of its replicas by. Each replica is given a key of its own, made of the
// secret and of its name, so that it can speak for itself alone:
//
//	key = hex( HMAC-SHA256( secret, name ))          printf %s debug-0 | openssl dgst -sha256 -hmac "$SECRET"
//	seal = hex( HMAC-SHA256( key, the message ))
//
// A seal covers the replica's name and the batch's number, which are in the message, so a message that is sent again
// changes nothing. The zero Secret asks for no seals.
type Secret string

// Key returns the key of a replica.
func (s Secret) Key(replica string) SealKey { return SealKey(mac(string(s), []byte(replica))) }

// Opens reports whether seal is the one of a message that the replica sent.
func (s Secret) Opens(replica string, message []byte, seal string) bool {
	return s == "" || hmac.Equal([]byte(s.Key(replica).Seal(message)), []byte(seal))
}

// SealKey is what one replica's messages are sealed with; the zero one makes no seals.
type SealKey string

// Seal returns a message's seal.
func (k SealKey) Seal(message []byte) string {
	if k == "" {
		return ""
	}
	return mac(string(k), message)
}

func mac(key string, message []byte) string {
	h := hmac.New(sha256.New, []byte(key))
	_, _ = h.Write(message) // never fails
	return hex.EncodeToString(h.Sum(nil))
}

// Sealed is the name of a speaker whose messages are sealed.
const Sealed = "sealed"

// HostName is by what publishers are told apart that have no better name: this machine's.
func HostName() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name[:min(len(name), MaxNameBytes)]
}
