package natsstream

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"octet/internal/natsclient"
	"octet/routing/events"
)

// ErrConfig is wrapped by what NewPublisher and NewConsumer say about their Config.
var ErrConfig = errors.New("natsstream: bad config")

// Defaults of Config.
const (
	DefaultSubject  = "octet.kv.>"
	DefaultStream   = "OCTET_KV"
	DefaultMaxMsgs  = 100_000
	DefaultMaxBytes = 256 << 20
)

// headerSeal is the header that holds a message's seal, see events.Secret.
const headerSeal = "Octet-Seal"

const (
	dialTimeout   = 2 * time.Second
	answerTimeout = 2 * time.Second       // of a request to JetStream
	redialFirst   = 50 * time.Millisecond // doubled with each try that fails
	redialMost    = 2 * time.Second
)

// Config names a stream and how to reach it.
type Config struct {
	URL     string // nats://host:port, several separated by commas. Required
	Subject string // what the stream covers, with one wildcard at its end; "" is DefaultSubject
	Stream  string // "" is DefaultStream
	Creds   string // path of a credentials file; optional
	CA      string // path of a PEM file with the roots to trust; "" is the system's

	Key    events.SealKey // what the publisher's messages are sealed with; "" seals none
	Secret events.Secret  // what the consumer wants seals by; "" wants none

	MaxMessage int64 // bytes of one message that the server may send; 0 is natsclient.DefaultMaxMessage

	MaxMsgs  int64 // messages that a stream created here keeps; 0 is DefaultMaxMsgs
	MaxBytes int64 // bytes that it keeps; 0 is DefaultMaxBytes
}

func (c Config) filled() (Config, error) {
	if c.Subject == "" {
		c.Subject = DefaultSubject
	}
	if c.Stream == "" {
		c.Stream = DefaultStream
	}
	if c.MaxMsgs == 0 {
		c.MaxMsgs = DefaultMaxMsgs
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	return c, c.check()
}

func (c Config) check() error {
	switch base := c.base(); {
	case c.URL == "":
		return fmt.Errorf("%w: no URL", ErrConfig)
	case base == c.Subject || base == "" || strings.ContainsAny(base, "*> \t\r\n") || strings.Contains("."+base, ".."):
		return fmt.Errorf("%w: subject %q is not a prefix and one wildcard", ErrConfig, c.Subject)
	case strings.ContainsAny(c.Stream, ".*>/\\ \t\r\n"):
		return fmt.Errorf("%w: stream name %q", ErrConfig, c.Stream)
	case c.MaxMsgs < 0 || c.MaxBytes < 0:
		return fmt.Errorf("%w: negative size", ErrConfig)
	}
	for _, path := range []string{c.Creds, c.CA} {
		if _, err := os.Stat(path); path != "" && err != nil {
			return fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	return nil
}

// base returns the subject up to its wildcard, with the dot; the whole subject when it ends in none.
func (c Config) base() string {
	if s := strings.TrimSuffix(c.Subject, ".>"); s != c.Subject {
		return s + "."
	}
	if s := strings.TrimSuffix(c.Subject, ".*"); s != c.Subject {
		return s + "."
	}
	return c.Subject
}

// dial returns a connection that looks for its server until it is closed, and keeps nothing that is sent meanwhile. It
// fails only where trying again would not help. What goes wrong later is noted in r.
func (c Config) dial(r *refusal, options ...nats.Option) (*nats.Conn, error) {
	options = append(options,
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.note(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { r.note(err) }),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(redialDelay),
	)
	conn, err := natsclient.Connect(natsclient.Config{URL: c.URL, Creds: c.Creds, CA: c.CA, MaxMessage: c.MaxMessage,
		Timeout: dialTimeout}, options...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return conn, nil
}

// redialDelay is the pause before a try to reach the server again, between half and all of its bound.
func redialDelay(tries int) time.Duration {
	bound := min(redialFirst<<min(tries, 10), redialMost)
	return bound/2 + rand.N(bound/2)
}

// subject returns where replica publishes: one token, whatever its name holds. Letters, digits, '-' and '_' stand for
// themselves, every other byte is written =XX.
func (c Config) subject(replica string) string {
	var s strings.Builder
	s.WriteString(c.base())
	for _, b := range []byte(replica) {
		if b == '-' || b == '_' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' {
			s.WriteByte(b)
		} else {
			fmt.Fprintf(&s, "=%02X", b)
		}
	}
	return s.String()
}
