package config

import "time"

// Events are the block index and the shared streams of cache events that feed it. A section that is absent is a source that is off.
type Events struct {
	// What the block index may take. A block that finds no room is not recorded: its replica then counts as holding less than it does.
	IndexMemory Size `yaml:"index_memory" default:"4GiB" range:"16MiB..16TiB"`
	// Redis Streams.
	Redis *Redis `yaml:"redis"`
	// NATS JetStream.
	NATS *NATS `yaml:"nats"`
	// A listener that engines stream to.
	GRPC *GRPC `yaml:"grpc"`
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
	// Speaks TLS, verified against the system's roots.
	TLS bool `yaml:"tls"`
	// Entries the stream keeps, about.
	MaxLen int64 `yaml:"maxlen" default:"100000" range:"100..1000000000"`
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
}

// GRPC is a listener for engines that push their events.
type GRPC struct {
	// Apart from the data and the admin listener.
	Listen string `yaml:"listen" default:"127.0.0.1:8082" form:"listen"`
}

// Shadow bounds the second opinions; they are shed first and never delay an answer.
type Shadow struct {
	// Shadow requests in flight; 0 = none are sent.
	MaxConcurrent int `yaml:"max_concurrent" default:"4" range:"0..10000"`
	// A shadow that takes longer is dropped.
	Timeout time.Duration `yaml:"timeout" default:"30s" range:"1ms..1h"`
	// The Redis stream, or NATS subject, of the calibration records; empty = none.
	Stream string `yaml:"stream" default:"octet:shadow"`
	// A local file for them, appended as JSON lines; empty = none.
	File string `yaml:"file"`
}
