package gateways

import (
	"fmt"
	"time"

	"octet/internal/replay"
)

// Config is one cell: so many gateways over so many engines, and what is between them.
type Config struct {
	Gateways int
	// Apart has the gateways tell each other nothing: they are as many independent ones.
	Apart bool
	Delay time.Duration // of a message
	Loss  float64       // share of the messages that do not arrive
	// Partition is the share of the trace's time, around its middle, in which no message arrives.
	Partition float64
	Sticky    bool // a session stays at one gateway; else each request goes to any

	Engines replay.Config // Replicas, Blocks, BlockSize, Rate, Seed, steps and Goal; the rest is not used
	// Tenants spread requests by weight: tenant 0's come in at the even gateways, tenant 1's at the odd ones. None
	// means that there is one tenant, whose requests come in anywhere.
	Tenants []float64
	// Patient requests have no deadline. The others are to have their first token within Goal.TTFT and the time that
	// an engine takes for all of their prompt.
	Patient bool

	check bool // every Model after each thing that happens: for tests
}

// Fixed figures of a gateway and its surroundings.
const (
	tellEvery   = 20 * time.Millisecond  // app/peering.Every
	lease       = 2 * time.Second        // gateways.lease
	firstsEvery = 200 * time.Millisecond // app/peering.firstsEvery
	beatEvery   = 200 * time.Millisecond
	weighEvery  = 100 * time.Millisecond
	scrape      = time.Second // scrape_interval
	eventDelay  = 5 * time.Millisecond
	predictTTL  = 10 * time.Second
	attempts    = 3 // limits.max_attempts
	maxWaiting  = 256
	maxWait     = 30 * time.Second // limits.max_queue_wait

	// the first part of a trace is played and not counted: gateways measure engines first
	warm = 0.4
)

// goal returns the time within which a prompt is to have its first token.
func (c *Config) goal(prompt int) time.Duration {
	return c.Engines.Goal.TTFT + time.Duration(float64(prompt)/c.Engines.Timing.Prefill*1e9)
}

// Check returns an ErrConfig that says what cannot be; nil where all can.
func (c *Config) Check() error {
	switch {
	case c.Gateways < 1 || c.Gateways > 64:
		return fmt.Errorf("%w: %d gateways, want 1 to 64", replay.ErrConfig, c.Gateways)
	case c.Delay < 0 || !(c.Loss >= 0 && c.Loss < 1) || !(c.Partition >= 0 && c.Partition <= 1):
		return fmt.Errorf("%w: messages %v late, %v of them lost, a partition of %v", replay.ErrConfig, c.Delay, c.Loss,
			c.Partition)
	case len(c.Tenants) > 2:
		return fmt.Errorf("%w: %d tenants, want 2 at most", replay.ErrConfig, len(c.Tenants))
	}
	return c.Engines.Check()
}
