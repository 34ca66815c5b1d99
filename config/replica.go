package config

import "time"

// Replica is one engine that serves a specialist.
type Replica struct {
	// Base URL of its OpenAI API; no two replicas share one, unless they are ranks of one engine.
	URL string `yaml:"url" required:"true" form:"replica"`
	// Unique in the file; default the specialist's name and the position, as debug-0.
	Name string `yaml:"name" form:"name"`
	// What it is: decides its quirks, its metric names and the sign of its priority. auto = found out by asking it;
	// openai is any other server of the OpenAI API.
	Engine string `yaml:"engine" default:"auto" form:"engine"`
	// Which data-parallel rank of the engine it is, where several are behind one URL; only for vllm and sglang, and not
	// with sleep.after or adapters that have a path. Its events are those of that rank's sockets. Default the whole
	// engine, which spreads requests over its ranks itself.
	DPRank *int `yaml:"dp_rank" range:"0..1023"`
	// As many replicas as the engine has data-parallel ranks, instead of dp_rank: NAME-r0, NAME-r1 and so on, each with
	// the rank added to the ports of events.zmq and events.replay. 0 = one replica.
	Ranks int `yaml:"ranks" default:"0" range:"0..512"`
	// The name the engine knows the model by; default the specialist's.
	Model string `yaml:"model"`
	// Bearer token the engine wants; ${VAR} reads it from the environment.
	APIKey string `yaml:"api_key"`
	// For an https URL: what the gateway trusts, and what it shows; absent = the system's authorities, and no
	// certificate.
	TLS *ReplicaTLS `yaml:"tls"`
	// What a probe asks for; empty = what its kind of engine has for it.
	HealthPath string `yaml:"health_path" form:"path"`
	// KV blocks of its pool; 0 = from its metrics, or from the specialist's hbm.
	Blocks int `yaml:"blocks" default:"0" range:"0..1000000000"`
	// Its own scheduler.max_running; 0 = the specialist's.
	MaxRunning int `yaml:"max_running" default:"0" range:"0..65536"`
	// Its part in a disaggregated plan. An engine for preprocess only makes tokens of prompts.
	Role string `yaml:"role" default:"both" enum:"both prefill decode preprocess"`
	// Where the engines that decode meet an SGLang engine that prefills: its --disaggregation-bootstrap-port.
	BootstrapPort int `yaml:"bootstrap_port" default:"8998" range:"1..65535"`
	// It reads x-prefiller-host-port, as llm-d's routing sidecar does: the gateway names the engine that prefills
	// there, and does not ask it itself.
	PrefillHeader bool `yaml:"prefill_header"`
	// Parameters that its kind of engine is not known to have are passed on; default true for openai and for auto that
	// found nothing else. Never those that redirect a request, run code or load tensors in an engine, or name its
	// slots.
	PassUnknown *bool `yaml:"pass_unknown"`
	// The surfaces that its engine serves itself, and that requests of theirs are passed through to: auto, the
	// default, is those of its kind that it is found to serve; with an empty list all are translated to chat
	// completions.
	Doors []string `yaml:"doors" enum:"auto messages responses"`
	// The request's priority is passed on, in the engine's own sign. Only for engines started with priority scheduling.
	ForwardPriority bool `yaml:"forward_priority"`
	// Free labels for label filters.
	Labels map[string]string `yaml:"labels"`
	// The engine's own event sockets.
	Events *ReplicaEvents `yaml:"events"`
	// Which source has found it; empty if the file lists it.
	Source string `yaml:"-"`
}

// ReplicaTLS is how a replica is spoken to by TLS, in PEM files that are read again as they change.
type ReplicaTLS struct {
	// Authorities that its certificate may be of; empty = the system's.
	CA string `yaml:"ca"`
	// The gateway's certificate, where the engine wants one.
	Cert string `yaml:"cert"`
	// Its private key, without a passphrase.
	Key string `yaml:"key"`
	// The name that its certificate must have; default the host of url.
	ServerName string `yaml:"server_name" form:"host"`
}

// ReplicaEvents is where a replica's cache events come from.
type ReplicaEvents struct {
	// The engine's ZMQ PUB socket; with host "*" the gateway listens and the engine dials. "{host}" is the host of the
	// replica's url.
	ZMQ string `yaml:"zmq" form:"zmq"`
	// Its replay ROUTER socket, likewise; empty = a gap cannot be repaired from the engine.
	Replay string `yaml:"replay" form:"zmq"`
	// The ROUTER socket at which it tells the names of all blocks that it holds, likewise: asked for where batches are
	// missing for good, as in a gateway that starts after its engines. In the format of SGLang, and for specialists
	// with its hash_scheme only.
	Snapshot string `yaml:"snapshot" form:"zmq"`
	// What the topics of its messages begin with; empty = any.
	Topic string `yaml:"topic"`
	// The one source that may speak for it: what others say in its name is dropped. auto = zmq where that is set, else
	// any.
	Source string `yaml:"source" default:"auto" enum:"auto any redis nats grpc zmq"`
	// How the engine hashes its blocks: what it publishes with tokens is compared, and differences are counted. unknown
	// = as its specialist's prompts are hashed; not compared where that is our own way.
	HashScheme string `yaml:"hash_scheme" default:"unknown" enum:"unknown sha256 sha256_cbor xxhash xxhash_cbor sglang"`
	// The PYTHONHASHSEED that it runs with: required with vLLM's schemes.
	HashSeed string `yaml:"hash_seed"`
}

// endpoints returns its sockets' endpoints by their keys.
func (e *ReplicaEvents) endpoints() map[string]*string {
	return map[string]*string{"zmq": &e.ZMQ, "replay": &e.Replay, "snapshot": &e.Snapshot}
}

// Fleet is how replicas are watched.
type Fleet struct {
	// Time between two probes of one replica, jittered; a tenth of it after a connection or an answer broke.
	ProbeInterval time.Duration `yaml:"probe_interval" default:"2s" range:"10ms..1h"`
	// Time between two looks at one replica's metrics, against which the model of its load is calibrated.
	ScrapeInterval time.Duration `yaml:"scrape_interval" default:"1s" range:"100ms..1h"`
	// A probe that takes longer has failed.
	ProbeTimeout time.Duration `yaml:"probe_timeout" default:"1s" range:"1ms..1m"`
	// Time between two questions to one engine which weights it serves, beside the one when it is there again; 0 =
	// never. Another revision than before is judged by itself.
	RevisionInterval time.Duration `yaml:"revision_interval" default:"30s" range:"0s..24h"`
	// Failed probes in a row that make it unhealthy.
	UnhealthyAfter int `yaml:"unhealthy_after" default:"2" range:"1..100"`
	// Good probes in a row that make it healthy again.
	HealthyAfter int `yaml:"healthy_after" default:"1" range:"1..100"`
	// Time between two deaths of one engine after which the requests that it had in flight go on beside the retry
	// budget.
	DeathInterval time.Duration `yaml:"death_interval" default:"10s" range:"10ms..1h"`
	// A replica whose engine publishes a Shutdown event gets no new requests from then on. It is back with the first
	// event of a later start; when a probe has failed and enough have been good after that; when probes have been good
	// for so long; or by DELETE /admin/drain/{replica}.
	ShutdownHold time.Duration `yaml:"shutdown_hold" default:"30s" range:"10ms..1h"`
	// Each replica that begins to serve is asked what octet doctor asks without sending a request. What is found is
	// logged once, with the cure, and shown by GET /admin/findings and the page.
	Examine bool `yaml:"examine" default:"true"`
	// When /readyz says 200: while any specialist has a replica that serves, or all have one.
	ReadyWhen string `yaml:"ready_when" default:"any" enum:"any all"`
	// How it changes by what is found by specialists[].discover.
	Discovery Discovery `yaml:"discovery"`
	// Addresses, or prefixes such as 169.254.10.0/24, that replicas may have although the gateway connects to no such
	// ones: link-local ones, and those of clouds' metadata services. At most 32.
	AllowAddresses []string `yaml:"allow_addresses" form:"prefix"`
	// The availability breaker of each replica.
	Breaker Breaker `yaml:"breaker"`
}

// Breaker stops sending to a replica that fails requests, whatever its probes say.
type Breaker struct {
	// Failures in a row, within the window, that open it.
	Failures int `yaml:"failures" default:"5" range:"1..10000"`
	// What failures are counted over.
	Window time.Duration `yaml:"window" default:"30s" range:"1s..1h"`
	// Time it stays open before it is probed with requests.
	OpenFor time.Duration `yaml:"open_for" default:"5s" range:"10ms..1h"`
	// Requests let through half-open; all must succeed to close it.
	Probes int `yaml:"probes" default:"1" range:"1..100"`
	// Share of failures among requests within the window that opens it too; 0 = only failures in a row do.
	Ratio float64 `yaml:"ratio" default:"0" range:"0..1"`
	// With fewer requests within the window there is no share.
	MinRequests int `yaml:"min_requests" default:"20" range:"1..1000000"`
	// Share of a specialist's replicas that may be given up at once; one always may.
	MaxEjected float64 `yaml:"max_ejected" default:"0.5" range:"0.01..1"`
}
