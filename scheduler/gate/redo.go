package gate

import (
	"time"

	"octet/scheduler"
)

// redoBudget bounds the work that preemption has an engine do again: to a share of the engine's time, with a reserve
// for bursts. Beyond it a more urgent request waits for the next place that comes free by itself, unless that would be
// too late for its deadline.
type redoBudget struct {
	share float64        // of the engine's time; 0 is no bound
	left  float64        // ns of work that may still be thrown away; below zero once it is overdrawn
	at    scheduler.Time // left is of this moment
	again scheduler.Time // when a request that was denied is tried again; 0 if none is
}

// redoMemory is the engine's time whose share is saved up while no request is preempted. The debt is bounded likewise:
// one victim that was dear does not make the urgent wait for longer.
const redoMemory = 20 * time.Second

// redoPause is the shortest time after which a request that was denied is tried again.
const redoPause = time.Millisecond

// allow sets the share. The first one begins with all that can be saved.
func (b *redoBudget) allow(share float64, now scheduler.Time) {
	if b.share == 0 {
		b.left, b.at = share*float64(redoMemory), now
	}
	b.share = share
}

// earn brings left to now.
func (b *redoBudget) earn(now scheduler.Time) {
	most := b.share * float64(redoMemory)
	b.left = min(most, max(-most, b.left)+b.share*float64(now-b.at))
	b.at = now
}

// spend takes what the end of a victim costs.
func (b *redoBudget) spend(lost time.Duration) { b.left -= float64(lost) }

// due reports whether it is time to try again a request that was denied.
func (b *redoBudget) due(now scheduler.Time) bool { return b.again != 0 && now >= b.again }

// repaid returns the time until an overdrawn budget is not.
func (b *redoBudget) repaid() time.Duration { return time.Duration(-b.left/b.share) + redoPause }
