package doctor

import (
	"time"

	"octet/config"
	"octet/engine"
	"octet/engine/openai"
	"octet/engine/tokenizers"
	"octet/routing/events"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
	"octet/routing/events/zmtp"
)

// Subject is one replica to be examined.
type Subject struct {
	Path       string // of its keys in the configuration, such as specialists[0].replicas[1]
	Specialist *config.Specialist
	Replica    *config.Replica
	Kinds      engine.Table
	// Dial returns a client of its own for the engine as one of the kind.
	Dial    func(kind string) (*openai.Client, error)
	Blocks  int               // of its pool, as configured; 0 = as the engine says
	Tokens  tokenizers.Source // where the tokens of its prompts come from
	Local   *tokenizers.Local // of source File
	Control zmtp.Control      // of connections to its event sockets; nil allows all
	Known   *Known            // nil where no gateway is asked
}

// Known is what a running gateway knows of a replica.
type Known struct {
	Trust              string // what it is scored by
	Misfit             string // why its events tell nothing of its prompts; "" if they do
	Stale              bool
	Gaps               uint64
	All, Part, Missing uint64   // answers by what came of the hit that was predicted
	Share              *float64 // of tokens that came from the cache, those that events had told; nil if none came
	Publishers         events.Publishers
	Connected          func() bool // its own socket is; nil if it has none
	Position           func() (events.Position, bool)
}

// Facts are what was seen of one replica.
type Facts struct {
	*Subject
	Kind  engine.Kind // that the engine is taken for
	Reach error       // why the engine cannot be reached; nil if it can. Then the rest of the answers is meaningful
	Answers
	Trials
	Heard
	Kept    zmqstream.Kept
	KeptErr error
}

// Answers are what an engine answers to questions. An error beside a field says why it is not known.
type Answers struct {
	Standing    openai.Standing
	Models      []openai.Model
	ModelsErr   error
	Identity    openai.Identity
	IdentityErr error
	Build       string
	Ahead       time.Duration // its clock
	AheadErr    error
	Metrics     openai.Metrics
	MetricsErr  error
	Loads       bool // adapters, while it runs
	LoadsErr    error
	Compared    tokenizers.Comparison
	ComparedErr error
}

// Trials are two requests for one token with the same new prompt.
type Trials struct {
	Why        string // they were not made; "" if they were
	First, Err error  // why a request failed: the first, and the second with no priority
	Prompt     int    // tokens, as the engine counts; 0 if it does not say
	Cached     *int   // of the second's; nil if the engine does not say
	Priority   error  // why the second failed with a priority; nil if it did not, or none was sent
	Words      string // the prompt
	IDs        []uint32
}

// Heard is what was heard of a replica while the trials were made.
type Heard struct {
	Source  string // that was listened to; "" for none
	Open    bool   // it could be
	Met     bool   // the gateway that is asked is connected to the replica's own socket
	HearErr error  // why not, or why no longer
	Batches int
	Bad     int // messages that are no batch
	Moved   bool
	Topics  []string
	Ranks   []int
	Stored  []events.Event // blocks in GPU memory, of the first batches
	Gaps    int
	Lag     time.Duration // of the last batch, by the publisher's clock; negative where that is ahead
	Lagged  bool          // Lag is known
	By      []string      // who said so
	Others  []string      // replicas that the source tells of and that are not configured
}

// Shared is what was seen of what all replicas share.
type Shared struct {
	Events   config.Events
	Redis    redisstream.Standing
	RedisErr error
	NATS     natsstream.Standing
	NATSErr  error
	Peer     time.Duration // how far its clock is ahead
	PeerErr  error
	Issuer   *Issuer // nil without auth.jwt
}

// Issuer is the keys by which tokens name tenants.
type Issuer struct {
	JWKS    string // where they are
	Keys    int
	Age     time.Duration // since they could be read last
	KeepFor time.Duration // so long they serve after that
	Err     error         // why they could not be read the last time; nil if they could
}
