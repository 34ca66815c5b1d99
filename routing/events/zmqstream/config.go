package zmqstream

import (
	"errors"
	"fmt"
	"time"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// ErrConfig is wrapped by what NewPublisher and NewConsumer say about their configurations.
var ErrConfig = errors.New("zmqstream: bad config")

const (
	dialTimeout  = 2 * time.Second
	replyTimeout = 2 * time.Second // between two messages of a replay
	replayTries  = 3               // before a gap is given up
	// after which a connection's start is checked for what fell between replay and subscription
	lookFirst  = time.Second
	lookEvery  = 30 * time.Second       // likewise, for what was lost last with nothing after it
	inboxSize  = 1024                   // messages that wait while others are replayed
	inboxBytes = 64 << 20               // of them together
	overhead   = 64 << 10               // bytes of a message beside its batch
	maxFrames  = 8                      // of a message; engines send three or four
	farSeq     = ^uint64(0)             // ends a replay
	farewell   = 500 * time.Millisecond // for what is still queued when a Publisher closes
)

func limits() zmtp.Limits {
	return zmtp.Limits{Message: events.MaxMessageBytes + overhead, Frames: maxFrames}
}

// Config names one engine's sockets.
type Config struct {
	Replica  string // whose events these are. Required
	Endpoint string // of its PUB socket. Required. tcp://*:port waits for engines that dial
	Replay   string // of its ROUTER socket; "": what is lost stays lost
	Topic    string // what the topics of its messages begin with
	// Snapshot is the ROUTER socket at which it tells all that it holds; "": none. What it tells are names of blocks
	// alone, so that prompts have to be hashed as the engine does.
	Snapshot string
	// Rank is which of its engine's data-parallel ranks the replica is: batches that say another are left out, and
	// counted. Nil: any.
	Rank *int
	// Control, a net.Dialer's, may refuse an address that an endpoint's name has resolved to. nil refuses none.
	Control zmtp.Control

	// Resume returns how far the replica's batches were applied before, by an earlier process say. nil, or false:
	// nothing is known.
	Resume func() (events.Position, bool)
}

func (c Config) endpoint() (live zmtp.Endpoint, err error) {
	if c.Replica == "" || len(c.Replica) > events.MaxNameBytes {
		return live, fmt.Errorf("%w: replica name %q", ErrConfig, c.Replica)
	}
	if live, err = zmtp.ParseEndpoint(c.Endpoint); err != nil {
		return live, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return live.Guarded(c.Control), nil
}

// dialled returns a socket that is always dialled; nil if there is none.
func (c Config) dialled(endpoint string) (*zmtp.Endpoint, error) {
	if endpoint == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	at, err := zmtp.ParseEndpoint(endpoint)
	if err == nil && at.Any() {
		err = fmt.Errorf("%q cannot be dialled", endpoint)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	at = at.Guarded(c.Control)
	return &at, nil
}
