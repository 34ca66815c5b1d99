package config

import (
	"os"
	"strings"
	"time"
)

// Gateways says how this gateway is one of several before the same replicas: each tells the others, over NATS or Redis,
// what it has at each replica, and none leads. It is read at the start alone.
type Gateways struct {
	// What the others know it by: letters, digits, "-" and "_". Two that are alive never have the same. Empty = the
	// host's name.
	Name string `yaml:"name" form:"gateway"`
	// A gateway counts for so long after what it told last; it tells all three times in that time.
	Lease time.Duration `yaml:"lease" default:"2s" range:"200ms..1m"`
	// What one command to the store may take.
	Timeout time.Duration `yaml:"timeout" default:"500ms" range:"10ms..10s"`
	// An Idempotency-Key is known to all gateways for so long after its last use, which is to be longer than any answer
	// takes: each request that has one asks the store. 0 = each gateway knows its own alone.
	Keys time.Duration `yaml:"keys" default:"1h" range:"0s..168h"`
	// How many gateways there are at least, as far as rates are concerned while the store is away: each grants one part
	// of so many, or of as many as counted last where these are more. 1 = one that starts without the store grants all.
	Count int `yaml:"count" default:"1" range:"1..256"`
	// NATS as the store: names are kept in a key-value bucket of JetStream, messages go by core subjects.
	NATS *GatewaysNATS `yaml:"nats"`
	// Redis as the store.
	Redis *GatewaysRedis `yaml:"redis"`
}

// GatewaysNATS is a NATS server, with JetStream, at which gateways meet.
type GatewaysNATS struct {
	// The server.
	URL string `yaml:"url" default:"nats://127.0.0.1:4222" form:"nats"`
	// The bucket, created where it is missing; gateways of one bucket are one group. Subjects begin with it, too.
	Bucket string `yaml:"bucket" default:"octet" form:"gateway"`
	// Path of a credentials file; empty = none.
	Creds string `yaml:"creds"`
	// Path of a PEM file with the roots to trust instead of the system's; for tls:// servers.
	CA string `yaml:"ca"`
}

// GatewaysRedis is a Redis at which gateways meet.
type GatewaysRedis struct {
	// host:port of the Redis.
	Addr string `yaml:"addr" default:"127.0.0.1:6379" form:"addr"`
	// Its user, where it has users.
	Username string `yaml:"username"`
	// Its password; ${VAR} reads it from the environment.
	Password string `yaml:"password"`
	// Its database.
	DB int `yaml:"db" default:"0" range:"0..1000000"`
	// What keys and channels begin with; gateways of one bucket are one group.
	Bucket string `yaml:"bucket" default:"octet" form:"gateway"`
}

// Called returns the gateway's name: the configured one, else the host's, with "-" for what a name may not hold.
func (g *Gateways) Called() string {
	if g.Name != "" {
		return g.Name
	}
	host, err := os.Hostname()
	if err != nil {
		return "gateway"
	}
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '-'
	}, host)
	return name[:min(len(name), maxName)]
}

// checkGateways notes a group without a store, or with two.
func checkGateways(c *Config, r *report) {
	g := c.Gateways
	switch {
	case g == nil:
	case g.NATS == nil && g.Redis == nil:
		r.addAt("gateways", CodeMissing, "gateways meet at a store: nats or redis is required")
	case g.NATS != nil && g.Redis != nil:
		r.addAt("gateways.redis", CodeConflict, "gateways meet at one store: nats or redis, not both")
	}
}
