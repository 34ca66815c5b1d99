package peers

import (
	"context"
	"errors"
	"time"
)

// Errors of a Link.
var (
	ErrTaken = errors.New("peers: the name is another gateway's") // which is alive
	ErrAway  = errors.New("peers: the store cannot be asked")
)

// Link is the store by which gateways reach each other. It carries messages at most once, those of one gateway in the
// order in which they were sent, and lets one gateway have a name at a time. Send is safe for concurrent use; Claim and
// Run are called one after the other.
type Link interface {
	// Claim takes the name for the lease. Where an earlier life of the name may still hold it, Claim waits for one
	// lease at most: a name that is not renewed meanwhile is taken over, one that is renewed is ErrTaken. It fails
	// with ErrAway where the store does not answer.
	Claim(ctx context.Context) error
	// Run keeps the claim and hands over what arrives until ctx ends. Then it gives the name back. It claims where
	// Claim failed, and connects again by itself.
	Run(ctx context.Context, on Events)
	// Send hands a message to the gateway of that name; to "", to all others. It waits for the network no longer than
	// the link's timeout, and fails with ErrAway where the message was not handed over.
	Send(to string, message []byte) error
	// Put puts value under key where seen is there, and returns what is there then: value, or what another gateway has
	// put. What is put is kept for as long as the store is told at the start. Values of one key are all different. Put
	// fails where the store cannot be asked. Safe for concurrent use.
	Put(ctx context.Context, key string, seen Held, value string) (there Held, err error)
}

// Held is what the store has under a key; the zero Held: nothing.
type Held struct {
	Value    string
	Revision uint64 // stores that count their changes make it differ with each
}

// Events is what a Link tells while it runs. The functions are called one at a time.
type Events struct {
	// Message is called with what another gateway has sent, and when that came: it may have waited since then. The
	// message is valid during the call only.
	Message func(message []byte, came time.Time)
	// Away is called once with why when the store cannot be asked (ErrAway) or the name was lost (ErrTaken), and with
	// nil when the claim holds again.
	Away func(why error)
}
