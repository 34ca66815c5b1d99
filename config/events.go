package config

import "time"

// Events are the block index and the shared streams of cache events that feed it. A section that is absent is a source
// that is off.
type Events struct {
	// The block index: runs keeps stretches of blocks together and evicts when it is full; sharded is a plain map of
	// blocks in 256 shards, which costs more time and memory and never evicts. It is read at the start alone.
	Index string `yaml:"index" default:"runs" enum:"runs sharded"`
	// What the block index may take, with the batches that wait to be told to it and the blocks that engines name
	// without their content. When it is full, what was not asked for lately is evicted: its replicas then count as
	// holding less than they do. What waits has a sixteenth of it in any case and a quarter at most, one replica an
	// eighth of that; a batch without room to wait is a gap.
	IndexMemory Size `yaml:"index_memory" default:"4GiB" range:"16MiB..16TiB"`
	// Redis Streams.
	Redis *Redis `yaml:"redis"`
	// NATS JetStream.
	NATS *NATS `yaml:"nats"`
	// A listener that engines stream to.
	GRPC *GRPC `yaml:"grpc"`
	// What was routed where, for engines without events, and until the events of the others come.
	Approximate Approximate `yaml:"approximate"`
	// What is known of the caches outlives a restart.
	Snapshot Snapshot `yaml:"snapshot"`
	// Where a replica is asked for all that it holds, at once when batches of its events are missing; engines that have
	// no such thing answer 404.
	ResyncPath string `yaml:"resync_path" default:"/admin/kv" form:"path"`
	// A replica whose sources are all unreachable for longer is scored by what was routed there, until one is back.
	TrustFor time.Duration `yaml:"trust_for" default:"30s" range:"1s..24h"`
	// A replica whose own ZMQ socket was connected and has been lost for so long gets no new requests until it is back,
	// whatever its probes say. 0 = never: probes and connections alone decide. The loss of a shared source takes no
	// replica out, as it says nothing of one. Silence does neither: an idle engine has nothing to publish.
	ExcludeAfter time.Duration `yaml:"exclude_after" default:"0s" range:"0s..24h"`
	// A replica's first publisher holds a lease on it, one name a source: events of other publishers do not count until
	// it has been silent for so long, or the replica has ended or is unhealthy. 0 = events of every publisher count.
	// Names are: of Redis entries their field publisher, of NATS messages their subject, of gRPC streams the token,
	// else the certificate, else the host.
	BindFor time.Duration `yaml:"bind_for" default:"30s" range:"0s..24h"`
}

// Approximate is the index of guesses.
type Approximate struct {
	// How long a prompt counts for a replica that publishes no events; 0 = not at all.
	TTL time.Duration `yaml:"ttl" default:"5m" range:"0s..24h"`
	// How long it counts for one that does, until its events say so; 0 = not at all.
	PredictTTL time.Duration `yaml:"predict_ttl" default:"10s" range:"0s..1h"`
	// Blocks remembered for a replica whose pool's size is not known.
	Blocks int `yaml:"blocks" default:"32768" range:"1..10000000"`
}

// Snapshot keeps the index of caches. What came after it is read from the streams.
type Snapshot struct {
	// Written at every interval and in the end, read at the start; empty = none.
	File string `yaml:"file"`
	// Time between two writes.
	Interval time.Duration `yaml:"interval" default:"30s" range:"100ms..24h"`
	// Admin URL of a gateway of the same fleet, which is asked at the start where there is no file; empty = none.
	Peer string `yaml:"peer" form:"url"`
	// Its admin token; ${VAR} reads it from the environment.
	PeerToken string `yaml:"peer_token"`
}

// Redis is one stream that all engines of the cell append to.
type Redis struct {
	// host:port of the server.
	Addr string `yaml:"addr" default:"127.0.0.1:6379" form:"addr"`
	// The stream's key.
	Stream string `yaml:"stream" default:"octet:kv" form:"text"`
	// ACL user; empty = the default user.
	Username string `yaml:"username"`
	// Its password; ${VAR} reads it from the environment.
	Password string `yaml:"password"`
	// Speaks TLS, verified against the system's roots, or against ca.
	TLS bool `yaml:"tls"`
	// Path of a PEM file with the roots to trust instead; implies tls.
	CA string `yaml:"ca"`
	// The secret of the replicas' seals: then an entry counts only under the seal of the replica that it tells of. A
	// replica's key is HMAC-SHA256 of its name under this, in hex: printf %s debug-0 | openssl dgst -sha256 -hmac
	// "$KEY". ${VAR} reads it from the environment; empty = no seals are wanted.
	Key string `yaml:"key"`
	// Entries the stream keeps, about.
	MaxLen int64 `yaml:"maxlen" default:"100000" range:"100..1000000000"`
	// What one answer of the server may take; a longer one ends the connection before memory is taken for it.
	MaxReply Size `yaml:"max_reply" default:"64MiB" range:"16MiB..1GiB"`
}

// NATS is one JetStream stream with a subject a replica.
type NATS struct {
	// The server.
	URL string `yaml:"url" default:"nats://127.0.0.1:4222" form:"nats"`
	// What is consumed; engines publish under it, one subject a replica.
	Subject string `yaml:"subject" default:"octet.kv.>" form:"subject"`
	// The JetStream stream, created where it is missing.
	Stream string `yaml:"stream" default:"OCTET_KV" form:"name"`
	// Path of a credentials file; empty = none.
	Creds string `yaml:"creds"`
	// Path of a PEM file with the roots to trust instead of the system's; for tls:// servers.
	CA string `yaml:"ca"`
	// As that of redis: the secret of the seals, in the messages' header Octet-Seal.
	Key string `yaml:"key"`
	// What one message of the server may take, headers included; a longer one ends the connection before memory is
	// taken for it, and is passed over.
	MaxMessage Size `yaml:"max_message" default:"16MiB" range:"9MiB..1GiB"`
}

// GRPC is a listener for engines that push their events.
type GRPC struct {
	// Apart from the data and the admin listener.
	Listen string `yaml:"listen" default:"127.0.0.1:8082" form:"listen"`
	// Paths of a PEM certificate and its key; empty = plain TCP.
	Cert string `yaml:"cert"`
	// The certificate's key.
	Key string `yaml:"key"`
	// Path of a PEM file with the authorities whose client certificates are required; empty = none is.
	ClientCA string `yaml:"client_ca"`
	// Allowed publishers; empty = every client that can connect.
	Publishers []EventPublisher `yaml:"publishers"`
}

// EventPublisher is one token, and the replicas that its bearer speaks for.
type EventPublisher struct {
	// What it sends as its bearer token; ${VAR} reads it from the environment.
	Token string `yaml:"token" required:"true" form:"text"`
	// The replicas' names; empty = any.
	Replicas []string `yaml:"replicas" form:"name"`
}

// Shadow bounds the second opinions; they are shed first and never delay an answer.
//
// The stream and the file take effect at the next start only.
type Shadow struct {
	// Shadow requests in flight; 0 = none are sent.
	MaxConcurrent int `yaml:"max_concurrent" default:"4" range:"0..10000"`
	// A shadow that takes longer is dropped.
	Timeout time.Duration `yaml:"timeout" default:"30s" range:"1ms..1h"`
	// What is kept of either answer; longer ones are not compared.
	AnswerBytes Size `yaml:"answer_bytes" default:"256KiB" range:"1KiB..16MiB"`
	// Shadows that have answered and wait for the ends of their primaries; further ones are not compared.
	MaxWaiting int `yaml:"max_waiting" default:"64" range:"0..100000"`
	// The Redis stream, or NATS subject, of the calibration records, at the server of events.redis and events.nats;
	// empty = none.
	Stream string `yaml:"stream" default:"octet:shadow"`
	// Entries that the Redis stream keeps, about.
	StreamLength int64 `yaml:"stream_length" default:"100000" range:"100..1000000000"`
	// Records that wait for the file, and for each server, to take them; further ones are dropped and counted.
	Queue int `yaml:"queue" default:"1024" range:"1..1000000"`
	// A record that is not written by then is dropped and counted.
	WriteTimeout time.Duration `yaml:"write_timeout" default:"5s" range:"10ms..10m"`
	// Time for all that is queued when the gateway ends.
	CloseTimeout time.Duration `yaml:"close_timeout" default:"3s" range:"10ms..10m"`
	// How often the counts of all requests' confidences go to the stream.
	TallyInterval time.Duration `yaml:"tally_interval" default:"1m" range:"100ms..24h"`
	// The newest records that GET /admin/calibration, which the page reads, tells of, in memory; 0 = none.
	Recent int `yaml:"recent" default:"10000" range:"0..1000000"`
	// A local file for them, appended as JSON lines; empty = none.
	File string `yaml:"file"`
	// Size at which the file is turned over.
	FileBytes Size `yaml:"file_bytes" default:"64MiB" range:"64KiB..1TiB"`
	// Earlier files that are kept.
	FileKeep int `yaml:"file_keep" default:"4" range:"0..1000"`
	// Whether records carry keyed hashes of prompts and answers (hash), or the texts too (text).
	Prompts string `yaml:"prompts" default:"hash" enum:"hash text"`
	// The normalised edit distance up to which two answers agree.
	Tolerance Tolerance `yaml:"tolerance"`
	// The judge of which of two answers is better; neither command nor url = rules alone decide.
	Judge Judge `yaml:"judge"`
}

// Tolerance is the share of tokens that may differ between two answers that agree.
type Tolerance struct {
	// Between words, where there is no code to compare.
	Text float64 `yaml:"text" default:"0.5" range:"0..1"`
	// Between tokens of the code in them.
	Code float64 `yaml:"code" default:"0.25" range:"0..1"`
}

// Judge is asked on standard input, or by POST: {"intent","prompt","a","b"}. It answers {"better"}: a, b, same or
// unclear. It is asked twice, with the answers swapped; a judge that contradicts itself does not count.
type Judge struct {
	// The program and its arguments.
	Command []string `yaml:"command" form:"text"`
	// The service; not together with command.
	URL string `yaml:"url" form:"url"`
	// Time for one question.
	Timeout time.Duration `yaml:"timeout" default:"10s" range:"1ms..10m"`
}
