package config

import "time"

// Limits bounds every input, every wait and every buffer. Nothing in the gateway grows without one of them.
type Limits struct {
	// Largest request body.
	BodyBytes Size `yaml:"body_bytes" default:"8MiB" range:"1KiB..1GiB"`
	// Request line and headers together. A reload raises it to at most 64KiB, or twice what it was at the start; the
	// rest takes effect at the next start.
	HeaderBytes Size `yaml:"header_bytes" default:"32KiB" range:"1KiB..1MiB"`
	// Header fields of one request. It takes effect at the next start only.
	HeaderFields int `yaml:"header_fields" default:"256" range:"16..100000"`
	// Nesting of the request's JSON.
	JSONDepth int `yaml:"json_depth" default:"64" range:"2..1000"`
	// Messages in one chat request.
	Messages int `yaml:"messages" default:"4096" range:"1..1000000"`
	// Prompts in one completion request: strings, or lists of token ids.
	Prompts int `yaml:"prompts" default:"1024" range:"1..65536"`
	// n and best_of: answers to each prompt, which the engine generates side by side.
	Choices int `yaml:"choices" default:"128" range:"1..1024"`
	// Stop strings of one request.
	StopStrings int `yaml:"stop_strings" default:"64" range:"1..65536"`
	// Entries of any other list or object that is a parameter: stop_token_ids, logit_bias, tools, documents.
	ListEntries int `yaml:"list_entries" default:"4096" range:"1..1000000"`
	// Size of any one parameter that is neither messages, nor prompts, nor tools: a schema, a grammar, documents.
	ParameterBytes Size `yaml:"parameter_bytes" default:"1MiB" range:"64..1GiB"`
	// Bodies that are held at once, by requests that wait and by streams that another replica could go on with, before
	// 503.
	QueueBytes Size `yaml:"queue_bytes" default:"512MiB" range:"1KiB..1TiB"`
	// Request bodies on their way at once: those that were not whole when their heads were read. They take no places
	// among max_streams. Beyond it the one that is on its way for longest is given up: 503.
	ArrivingBodies int `yaml:"arriving_bodies" default:"4096" range:"1..1000000"`
	// Received of bodies on their way, before the one that is on its way for longest is given up: 503.
	ArrivingBytes Size `yaml:"arriving_bytes" default:"512MiB" range:"1KiB..1TiB"`
	// The part of both that one tenant, or one client address (IPv6: one /64), may have; beyond it its own longest is
	// given up: 429.
	ArrivingShare float64 `yaml:"arriving_share" default:"0.5" range:"0.01..1"`
	// Connections of clients, all addresses together, under max_streams or not; the process' limit of open files may
	// make it less. Beyond it one without a request makes room, else the new one is refused: 503.
	Connections int `yaml:"connections" default:"20000" range:"1..1000000"`
	// Connections of one client address (IPv6: one /64); beyond it: 503.
	ConnectionsPerAddress int `yaml:"connections_per_address" default:"2000" range:"1..1000000"`
	// TLS handshakes on their way at once, of each listener; beyond it the oldest is given up for a new one. It takes
	// effect at the next start only.
	Handshakes int `yaml:"handshakes" default:"1024" range:"1..1000000"`
	// Time in a replica's queue before 429, at each that is tried; for a stream that gave way and waits to go on,
	// before its error event. 0s lets no request wait, for an adapter to be loaded neither: it is loaded for those that
	// come later.
	MaxQueueWait time.Duration `yaml:"max_queue_wait" default:"30s" range:"0s..1h"`
	// Time a client may take to send a request's head, or for a TLS handshake; the connection of one that takes longer
	// is closed, for a head with a 408. It takes effect at the next start only.
	HeaderTimeout time.Duration `yaml:"header_timeout" default:"10s" range:"1ms..1h"`
	// Time that a client's connection may be open without a request. It takes effect at the next start only.
	KeepaliveTimeout time.Duration `yaml:"keepalive_timeout" default:"2m" range:"1ms..24h"`
	// Time a client may take to send its body.
	BodyTimeout time.Duration `yaml:"body_timeout" default:"30s" range:"1ms..1h"`
	// Largest answer that is not streamed: it is held until it is whole.
	ResponseBytes Size `yaml:"response_bytes" default:"64MiB" range:"1KiB..4GiB"`
	// Largest event of an engine's stream: what comes of it is held until it is whole.
	EventBytes Size `yaml:"event_bytes" default:"1MiB" range:"1KiB..1GiB"`
	// Time an engine may take for a whole answer that is not streamed.
	AnswerTimeout time.Duration `yaml:"answer_timeout" default:"10m" range:"1ms..24h"`
	// Time from dispatch to the first token of a streamed answer; and for a place, for one that goes on, there or at
	// another replica.
	TTFTTimeout time.Duration `yaml:"ttft_timeout" default:"60s" range:"1ms..24h"`
	// Silence of an engine between two tokens of a stream: the bound on inter-token latency.
	IdleTimeout time.Duration `yaml:"idle_timeout" default:"30s" range:"1ms..24h"`
	// Time a client may take to accept what is written to it. A reload changes it for answers of engines; for all
	// others, and for connections of HTTP/2, it takes effect at the next start.
	WriteTimeout time.Duration `yaml:"write_timeout" default:"30s" range:"1ms..24h"`
	// Grace for open requests after SIGTERM.
	Drain time.Duration `yaml:"drain" default:"30s" range:"0s..24h"`
	// After that, for what runs beside requests to end: sources of events, the index's file. What takes longer is left
	// behind.
	Stop time.Duration `yaml:"stop" default:"10s" range:"100ms..1h"`
	// Request headers that rules of specialists[].profiles and plugins may read, each of at most 256 bytes; empty =
	// none. At most 16; never those that hold a client's secrets, such as Authorization and Cookie.
	ProfileHeaders []string `yaml:"profile_headers" form:"name"`
	// Request headers that engines are sent as they come; empty = none but traceparent and tracestate, which always go
	// through. At most 16; never those that hold a client's secrets, frame a message, or name a destination.
	ForwardHeaders []string `yaml:"forward_headers" form:"name"`
	// Streams open at once, all tenants together.
	MaxStreams int `yaml:"max_streams" default:"10000" range:"1..1000000"`
	// Replicas tried for one request before its first byte.
	MaxAttempts int `yaml:"max_attempts" default:"3" range:"1..16"`
	// Times that one stream whose engine died after its first byte goes on at another replica, where its text is enough
	// to; 0 = never.
	Continuations int `yaml:"continuations" default:"2" range:"0..16"`
	// Share of the last minute's requests, or of those in flight where they are more, that retries may be; a stream
	// that goes on elsewhere is one. Free are retries where no engine has worked, and one for each request that an
	// engine's death struck.
	RetryBudget float64 `yaml:"retry_budget" default:"0.10" range:"0..1"`
	// Retries within a minute that are allowed however few requests there are.
	RetryBurst int `yaml:"retry_burst" default:"10" range:"0..1000000"`
	// Receipts kept in memory for each tenant, oldest dropped first.
	Receipts int `yaml:"receipts" default:"10000" range:"0..10000000"`
	// Idempotency keys remembered for each tenant, oldest dropped first.
	IdempotencyKeys int `yaml:"idempotency_keys" default:"10000" range:"0..10000000"`
	// Memory for the tokens and block hashes of prompts' beginnings, over all specialists whose tokenizer is a file; 0
	// = none.
	TokenizerCache Size `yaml:"tokenizer_cache" default:"64MiB" range:"0..1TiB"`
}
