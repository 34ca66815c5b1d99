package config

import "time"

// Auth lists the tenants. Without tenants every request is of the anonymous one.
type Auth struct {
	// What tenants' cache salts are derived from, at least 16 bytes; ${VAR} reads it from the environment. Empty =
	// drawn at each start: what engines have cached for tenants is then found no more. Gateways before the same engines
	// share one.
	Secret string `yaml:"secret"`
	// Tenants without a cache_salt share prefix caches with one another and with requests without a key, and are told
	// what the others' prompts have left there. False: each has a salt of its own.
	ShareCache bool `yaml:"share_cache"`
	// Requests without a key are served, under anonymous_limits. False: a key is required.
	Anonymous bool `yaml:"anonymous" default:"true"`
	// What requests without a key may ask for.
	AnonymousLimits AnonymousLimits `yaml:"anonymous_limits"`
	// Which POST /v1/outcomes count: those of tenants with a key, on any answer (tenants) or on answers to themselves
	// (own); or none. Requests without a key never judge.
	Verdicts string `yaml:"verdicts" default:"own" enum:"tenants own none"`
	// Origins, such as https://chat.example.com, whose pages may send requests without a key; pages of the listener's
	// own host always may.
	Origins []string `yaml:"origins" form:"origin"`
	// Callers with a key, or a token of jwt.
	Tenants []Tenant `yaml:"tenants"`
	// Tokens that an issuer has signed, beside keys; absent = keys alone.
	JWT *JWT `yaml:"jwt"`
	// A file that keeps what tenants have used of their day and month over restarts; empty = a start counts from zero.
	State string `yaml:"state"`
	// How often it is written, where something was used: what a crash loses.
	StateInterval time.Duration `yaml:"state_interval" default:"5s" range:"100ms..1h"`
	// Has all gateways count rates together; absent = each for itself.
	Shared *SharedRates `yaml:"shared"`
}

// SharedRates is a Redis in which gateways count what their tenants use. While it cannot be asked each gateway goes by
// its part of every rate and of what is left of every budget, and says so.
type SharedRates struct {
	// host:port of the Redis.
	Addr string `yaml:"addr" required:"true" form:"addr"`
	// Its user, where it has users.
	Username string `yaml:"username"`
	// Its password; ${VAR} reads it from the environment.
	Password string `yaml:"password"`
	// Its database.
	DB int `yaml:"db" default:"0" range:"0..1000000"`
	// Time it may take to answer.
	Timeout time.Duration `yaml:"timeout" default:"20ms" range:"1ms..10s"`
	// What one answer of it may take.
	MaxReply Size `yaml:"max_reply" default:"1MiB" range:"64KiB..1GiB"`
	// Gateways that share the rates.
	Gateways int `yaml:"gateways" default:"2" range:"1..10000"`
}

// AnonymousLimits binds all requests without a key together.
type AnonymousLimits struct {
	// The highest X-Priority that is honoured; higher ones are clamped. The default is no ceiling.
	PriorityMax int `yaml:"priority_max" default:"100" range:"-100..100"`
	// Their share of a busy replica, beside other tenants' weights.
	Weight int `yaml:"weight" default:"1" range:"1..1000"`
	// Streams they may hold open at once, all together; 0 = limits.max_streams alone.
	MaxStreams int `yaml:"max_streams" default:"0" range:"0..1000000"`
	// What all anonymous requests together may use.
	Rate Rate `yaml:"rate"`
	// What they may use of a day and a month, all together.
	Budget Budget `yaml:"budget"`
}

// Tenant is one caller: its keys, one ceiling of priority, one budget, one corner of the prefix cache.
type Tenant struct {
	// Appears in logs and metrics; unique.
	Name string `yaml:"name" required:"true" form:"name"`
	// SHA-256 of the API key, 64 hex digits: the key itself is never in a file. A tenant has this, keys, or tokens of
	// auth.jwt that name it.
	KeySHA256 string `yaml:"key_sha256" form:"sha256"`
	// Further keys, which may end.
	Keys []TenantKey `yaml:"keys"`
	// The highest X-Priority this tenant may ask for. The default is no ceiling.
	PriorityMax int `yaml:"priority_max" default:"100" range:"-100..100"`
	// A higher X-Priority is lowered to the ceiling (clamp) or answered 403 priority_not_allowed (refuse). A request
	// without X-Priority and service_tier has 0, or the ceiling where that is lower.
	PriorityPolicy string `yaml:"priority_policy" default:"clamp" enum:"clamp refuse"`
	// Its share of a busy replica among the requests that wait at one priority: prompt tokens that no cache saves, over
	// the weight, are even between tenants.
	Weight int `yaml:"weight" default:"1" range:"1..1000"`
	// The specialists it may use; empty = all.
	Specialists []string `yaml:"specialists" form:"name"`
	// Secret that separates its cached prefixes from everyone else's, sent to engines as it is; empty = derived from
	// auth.secret and its name, unless auth.share_cache is true.
	CacheSalt string `yaml:"cache_salt" form:"salt"`
	// It may name the replica that answers, in X-Octet-Replica. False: 403 permission_denied.
	MayDirect bool `yaml:"may_direct"`
	// Streams it may hold open at once; 0 = limits.max_streams alone.
	MaxStreams int `yaml:"max_streams" default:"0" range:"0..1000000"`
	// What it may use.
	Rate Rate `yaml:"rate"`
	// What it may use of a day and a month: then 429 quota_exceeded, until the next begins.
	Budget Budget `yaml:"budget"`
}

// Rate is a token bucket each on requests and on tokens; 0 = no bound.
type Rate struct {
	// Requests admitted a second, on average.
	RequestsPerSecond float64 `yaml:"requests_per_second" default:"0" range:"0..1e9"`
	// Requests that may come at once; 0 = one second's worth, at least 1.
	Burst int `yaml:"burst" default:"0" range:"0..1000000000"`
	// Prompt and generated tokens a minute, on average.
	TokensPerMinute int64 `yaml:"tokens_per_minute" default:"0" range:"0..1000000000000"`
}
