package ensemble

import "time"

// Limits bound what clients can cost. Each field is a config key.
type Limits struct {
	BodyBytes             int64
	ResponseBytes         int64 // of a unary answer
	HeaderBytes           int
	HeaderFields          int      // of one request; zero means no limit
	ProfileHeaders        []string // request headers that plugins may see, by their canonical names
	ForwardHeaders        []string // request headers that engines are sent, likewise
	Connections           int      // of clients
	ConnectionsPerAddress int
	Handshakes            int   // of TLS, on their way at once
	QueueBytes            int64 // of all bodies that are held
	Inbound               Inbound
	EventBytes            int // of one event of an engine's stream; zero means 1 MiB
	HeaderTimeout         time.Duration
	KeepaliveTimeout      time.Duration // of a connection without a request
	JSONDepth             int
	Messages              int
	Prompts               int // of one completion
	Choices               int // n and best_of
	Entries               int // of any other list or object of a body
	Stops                 int // stop strings
	ParameterBytes        int // of a parameter that is neither messages, nor prompts, nor tools
	MaxStreams            int
	MaxAttempts           int
	Continuations         int     // of one stream, after engines that died
	RetryBudget           float64 // retries as a share of a minute's requests, or of those in flight
	RetryBurst            int     // retries within a minute, however few requests there are
	BodyTimeout           time.Duration
	AnswerTimeout         time.Duration // of a unary answer
	MaxQueueWait          time.Duration // at a replica's Gate
	TTFTTimeout           time.Duration
	IdleTimeout           time.Duration
	WriteTimeout          time.Duration
	Drain                 time.Duration
	Series                int // lines of /metrics; zero means no limit
}

// Inbound bounds the bodies that are on their way: those that were not whole when their heads were read.
type Inbound struct {
	Bodies int     // zero means no limit
	Bytes  int64   // received of them; zero means no limit
	Share  float64 // of both, for one tenant or one address; zero means all
}
