package replay

import (
	"errors"
	"fmt"
	"time"

	"octet/routing/index"
)

// ErrConfig is a replay that cannot be.
var ErrConfig = errors.New("replay: impossible configuration")

// Config is the fleet and the load of a replay. Every field of it is needed but Faults.
type Config struct {
	Replicas  int
	Blocks    int     // of each replica's KV pool
	BlockSize int     // tokens
	Rate      float64 // of arrivals, in the trace's own
	Seed      uint64  // of the policies' draws, the hashes and the tokens

	Faults     Faults
	EventDelay time.Duration // from a change of a cache to the index
	PredictTTL time.Duration // for which a routed prompt counts as cached until events tell; zero is not at all
	MaxRunning int           // requests in one engine's batch
	Budget     int           // tokens that a step computes at most
	Chunk      int           // of these, of one prompt
	Timing     Timing
	Goal       Goal
}

// Faults are what a gateway does not learn of its engines. The zero Faults are none. What it counts itself, such as
// requests in flight, stays true.
type Faults struct {
	// NoEvents has engines publish no cache events: all that is known of a cache is what was routed there.
	NoEvents bool
	// MetricsDelay is how old an engine's report of its load is: before, it reports that it is idle.
	MetricsDelay time.Duration
	// Lying replicas, the first ones, always report that they are idle and empty.
	Lying int
}

func (f *Faults) check(replicas int) error {
	switch {
	case f.MetricsDelay < 0:
		return fmt.Errorf("%w: metrics that come %v early", ErrConfig, -f.MetricsDelay)
	case f.Lying < 0 || f.Lying > replicas:
		return fmt.Errorf("%w: %d of %d replicas report wrong loads", ErrConfig, f.Lying, replicas)
	}
	return nil
}

// Timing is how long an engine's step takes: the sum of a fixed part, such as reading the weights, of what its prompt
// tokens take, and of what each sequence's further token does.
type Timing struct {
	Prefill float64       // prompt tokens a second
	Step    time.Duration // the fixed part
	Decode  time.Duration // for each sequence that gets a token behind its first, which its prefill brings
}

// Goal is what counts as good: both.
type Goal struct {
	TTFT time.Duration
	TPOT time.Duration // mean time between an answer's tokens
}

// Default returns the figures that published comparisons use: eight replicas of one million tokens each.
func Default() Config {
	return Config{
		Replicas: 8, Blocks: 2048, BlockSize: TraceBlock, Rate: 1, Seed: 1, PredictTTL: 10 * time.Second,
		MaxRunning: 256, Budget: 512, Chunk: 512,
		Timing: Timing{Prefill: 8000, Step: 3 * time.Millisecond, Decode: time.Millisecond},
		Goal:   Goal{TTFT: 5 * time.Second, TPOT: 100 * time.Millisecond},
	}
}

// Check returns an ErrConfig that says what cannot be; nil where all can.
func (c *Config) Check() error {
	switch {
	case c.Replicas < 1 || c.Replicas > index.MaxHosts:
		return fmt.Errorf("%w: %d replicas, want 1 to %d", ErrConfig, c.Replicas, index.MaxHosts)
	case c.Blocks < 1 || c.Blocks > 1<<28 || c.BlockSize < 1 || c.BlockSize > maxTokens:
		return fmt.Errorf("%w: %d blocks of %d tokens", ErrConfig, c.Blocks, c.BlockSize)
	case !(c.Rate > 0 && c.Rate <= 1e6):
		return fmt.Errorf("%w: a rate of %v, want over 0", ErrConfig, c.Rate)
	case c.EventDelay < 0:
		return fmt.Errorf("%w: events that come %v early", ErrConfig, -c.EventDelay)
	}
	if c.PredictTTL < 0 {
		return fmt.Errorf("%w: predictions that last %v", ErrConfig, c.PredictTTL)
	}
	if err := c.Faults.check(c.Replicas); err != nil {
		return err
	}
	return c.checkEngine()
}

func (c *Config) checkEngine() error {
	switch {
	case c.MaxRunning < 1 || c.Budget < c.MaxRunning || c.Chunk < 1 || c.Chunk > c.Budget:
		return fmt.Errorf("%w: steps of %d tokens, %d of a prompt, for %d running requests", ErrConfig, c.Budget,
			c.Chunk, c.MaxRunning)
	case !(c.Timing.Prefill >= 1) || c.Timing.Step <= 0 || c.Timing.Decode < 0:
		return fmt.Errorf("%w: %v prompt tokens a second, steps of %v, %v a token", ErrConfig, c.Timing.Prefill,
			c.Timing.Step, c.Timing.Decode)
	}
	return nil
}

// Took returns how long a step takes that computes so many prompt tokens, and so many tokens behind first ones.
func (t *Timing) Took(prefill, decodes int) time.Duration {
	compute := time.Duration(float64(prefill) / t.Prefill * 1e9)
	return t.Step + compute + time.Duration(decodes)*t.Decode
}
