package config

import _ "embed"

// Config is one whole, checked configuration. Every key has a default unless its type says that it is required;
// a Config that Load or Parse returned holds no faults and is never changed afterwards.
type Config struct {
	// Where the two listeners are.
	Listen Listen `yaml:"listen"`
	// What speaks HTTP on the data listener: octet is the gateway's own connection loop, nethttp is Go's. Elsewhere
	// than on Linux it is Go's in any case.
	Front string `yaml:"front" default:"octet" enum:"octet nethttp"`
	// The admin listener's own token and switches.
	Admin Admin `yaml:"admin"`
	// What is logged, and how.
	Log Log `yaml:"log"`
	// Tenants, and how much each may ask for.
	Auth Auth `yaml:"auth"`
	// Bounds on every input, wait and buffer.
	Limits Limits `yaml:"limits"`
	// What callers may declare in X-Intent, by name. Given at all, the section replaces the built-in four:
	// codegen, debug, build-fix, review.
	Intents map[string]Intent `yaml:"intents"`
	// How a request that names no specialist finds one.
	Router Router `yaml:"router"`
	// How replicas are probed, and when one is given up.
	Fleet Fleet `yaml:"fleet"`
	// The ensemble: at least one specialist, names are free.
	Specialists []Specialist `yaml:"specialists" required:"true"`
	// Routing profiles of one's own, by name. A preset's name cannot be taken.
	Profiles map[string]Profile `yaml:"profiles"`
	// The shared sources of cache events; several at once are fine, none is fine too.
	Events Events `yaml:"events"`
	// The budget of shadow traffic and where its comparisons go.
	Shadow Shadow `yaml:"shadow"`
	// Where receipts are kept besides memory.
	Receipts Receipts `yaml:"receipts"`
	// Verdicts on answers: what is remembered of them, and who gives them.
	Outcomes Outcomes `yaml:"outcomes"`
	// Where traces of requests go.
	Tracing Tracing `yaml:"tracing"`
	// Several gateways as one; absent = this one alone.
	Gateways *Gateways `yaml:"gateways"`
	// The bounds of /metrics.
	Metrics Metrics `yaml:"metrics"`
	// Seeds the keyed block hash; another value forgets every cached chain. 0 = drawn at the start, and kept by
	// events.snapshot.file. Gateways that take over each other's snapshots, or are several before replicas without
	// cache events, set the same one.
	HashSeed uint64 `yaml:"hash_seed"`
}

// Listen says where clients and operators connect. Port 0 picks a free one.
type Listen struct {
	// The data listener: the OpenAI surface.
	Data string `yaml:"data" default:"127.0.0.1:8080" form:"listen"`
	// The admin listener: state, knobs, metrics, dashboard. Never the data listener's address.
	Admin string `yaml:"admin" default:"127.0.0.1:8081" form:"listen"`
	// TLS on the data listener; absent = plain HTTP. HTTP/2 is served where the client asks for it.
	TLS *ListenTLS `yaml:"tls"`
	// The same on the admin listener.
	AdminTLS *ListenTLS `yaml:"admin_tls"`
}

// ListenTLS is a listener's certificate, in PEM files that are read again as they change.
type ListenTLS struct {
	// The certificate, then those between it and its authority.
	Cert string `yaml:"cert" required:"true" form:"text"`
	// Its private key, without a passphrase.
	Key string `yaml:"key" required:"true" form:"text"`
	// Authorities of clients' certificates: with them a client must have one. Empty = clients have none.
	ClientCA string `yaml:"client_ca"`
}

// Admin guards the admin listener. An empty token is accepted only where the listener is on loopback.
type Admin struct {
	// Bearer token of the admin listener, at least 16 bytes; ${VAR} reads it from the environment.
	Token string `yaml:"token"`
	// Names by which it may be called without a token, besides loopback ones and the address that it listens on: a page
	// that leads a name of its own here reads nothing.
	Hosts []string `yaml:"hosts" form:"host"`
	// Serves /debug/pprof/ on the admin listener.
	Pprof bool `yaml:"pprof"`
	// What GET /admin/decisions, which the page reads, tells of the decisions that are made.
	Decisions AdminDecisions `yaml:"decisions"`
}

// AdminDecisions bounds the stream of decisions for operators.
type AdminDecisions struct {
	// Decisions that a reader is told of; of more, a sample with the count of all.
	PerSecond int `yaml:"per_second" default:"50" range:"1..1000"`
	// Readers at once; further ones get 503 overloaded. Without one nothing is done.
	Readers int `yaml:"readers" default:"8" range:"0..64"`
}

// Log is the structured log on standard error.
type Log struct {
	// The least level that is written.
	Level string `yaml:"level" default:"info" enum:"debug info warn error"`
	// One line of text, or one JSON object, per record.
	Format string `yaml:"format" default:"text" enum:"text json"`
}

// Metrics bounds what /metrics may cost.
type Metrics struct {
	// Lines at most, all metrics together: a histogram has one a bucket. Beyond it the metrics with the most lines are
	// shortened: label values that came last are summed as "other", of gauges they are left out.
	// octet_metrics_folded_series says how many. Labels are names of the configuration, never a client's.
	MaxSeries int `yaml:"max_series" default:"10000" range:"100..1000000"`
}

//go:embed reference.yaml
var reference []byte

// Example returns the reference configuration: the eight-specialist ensemble with every key documented.
// It parses without faults in an empty environment. The caller owns the bytes.
func Example() []byte { return append([]byte(nil), reference...) }
