package grpcstream

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"octet/routing/events"
)

// ErrConfig is wrapped by what NewPublisher and NewConsumer say about their configurations, and by Consume where it
// cannot listen.
var ErrConfig = errors.New("grpcstream: bad config")

const (
	// MaxStreams is how many streams are open at once, all connections together: twice the replicas that an index can
	// tell apart, for those that come back before the gateway has noticed that they went.
	MaxStreams = 1024

	// bytes of an Ack; a batch may have events.MaxMessageBytes. More ends the stream before memory is taken for it
	maxAck       = 4 << 10
	streamsAConn = 64 // of one connection
	idleAfter    = 15 * time.Second
	goneAfter    = 10 * time.Second // without an answer to a ping
	answerWithin = 2 * time.Second  // of an Ack
)

// Token is a publisher's credential, with the replicas that it may publish for.
type Token struct {
	Token    string
	Replicas []string // empty: any
}

// Config is the gateway's side.
type Config struct {
	Listen   string       // host:port. Required, unless Listener is given
	Listener net.Listener // that is open already; Consume closes it
	TLS      *tls.Config  // nil speaks plain TCP
	Tokens   []Token      // empty: every client that can connect may publish
}

func (c Config) check() error {
	if c.Listen == "" && c.Listener == nil {
		return fmt.Errorf("%w: no address", ErrConfig)
	}
	for i, t := range c.Tokens {
		if t.Token == "" {
			return fmt.Errorf("%w: token %d is empty", ErrConfig, i)
		}
	}
	return nil
}

// grants is what the tokens allow, by hash: how long a comparison takes tells nothing about them.
type grants []grant

type grant struct {
	hash     [sha256.Size]byte
	replicas []string
	name     string // of the client that shows the token; "" where there are no tokens
}

func newGrants(tokens []Token) (all grants) {
	for _, t := range tokens {
		hash := sha256.Sum256([]byte(t.Token))
		all = append(all, grant{hash, t.Replicas, fmt.Sprintf("token %x", hash[:4])})
	}
	return all
}

// find returns what a header's token grants, and false without a valid one.
func (g grants) find(header string) (grant, bool) {
	if len(g) == 0 {
		return grant{}, true
	}
	scheme, token, _ := strings.Cut(header, " ")
	if !strings.EqualFold(scheme, "bearer") {
		return grant{}, false
	}
	hash := sha256.Sum256([]byte(token))
	for _, each := range g {
		if subtle.ConstantTimeCompare(each.hash[:], hash[:]) == 1 {
			return each, true
		}
	}
	return grant{}, false
}

func (g grant) covers(replica string) bool {
	return len(g.replicas) == 0 || slices.Contains(g.replicas, replica)
}

// PublisherConfig is one engine's side.
type PublisherConfig struct {
	Addr  string      // of the gateway, host:port. Required
	TLS   *tls.Config // nil speaks plain TCP
	Token string      // optional
}

var (
	_ events.Consumer  = (*Consumer)(nil)
	_ events.Publisher = (*Publisher)(nil)
)
