package emulator

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"octet/routing/events"
	"octet/scheduler/core"
)

const (
	outboxSize   = 4096                  // batches that wait for a slow transport; about 40 s of steps
	publishTries = 4                     // of one batch, before it is dropped and the gap shows
	publishWait  = 20 * time.Millisecond // before the second try, doubled with each
	farewellWait = time.Second           // for what is still to be sent when the engine ends
)

// outbox carries the engine's cache events to a publisher. Batches are numbered where they are posted, so whatever gets
// lost on the way, for want of room or of a transport, is a gap in the numbers and never a silent loss.
type outbox struct {
	replica   string
	epoch     uint64
	blockSize int
	mute      bool             // no tokens are told
	publisher events.Publisher // nil: everything posted is dropped, and numbered

	postMu sync.Mutex // keeps the queue in the order of the numbers
	seq    uint64     // of the batch posted last
	ledger ledger     // what is cached after that batch
	names  blockNames
	queue  chan events.Batch
	lost   atomic.Uint64 // batches
}

func newOutbox(c Config) *outbox {
	return &outbox{
		replica: c.Name, epoch: c.Epoch, blockSize: c.BlockSize, mute: c.Tokenless, publisher: c.Publisher,
		queue: make(chan events.Batch, outboxSize), names: blockNames{namer: c.Namer},
	}
}

// post numbers one batch and queues it, or drops it when the queue is full. It never blocks.
func (o *outbox) post(changes ...events.Event) {
	if len(changes) == 0 {
		return
	}
	o.postMu.Lock()
	defer o.postMu.Unlock()
	if changes = o.names.rename(changes); len(changes) == 0 {
		return
	}
	o.seq++
	o.ledger.note(changes)
	if o.publisher == nil {
		return
	}
	if o.mute {
		changes = withoutTokens(changes)
	}
	select {
	case o.queue <- events.Batch{Replica: o.replica, Epoch: o.epoch, Seq: o.seq, At: time.Now(), Events: changes}:
	default:
		o.lost.Add(1)
	}
}

// posted returns the number of the last batch.
func (o *outbox) posted() uint64 {
	o.postMu.Lock()
	defer o.postMu.Unlock()
	return o.seq
}

// run publishes what is posted until ctx ends, and then for a moment what is still queued.
func (o *outbox) run(ctx context.Context) {
	for {
		select {
		case b := <-o.queue:
			o.publish(ctx, b)
		case <-ctx.Done():
			o.drain()
			return
		}
	}
}

// drain publishes what is queued, for at most about farewellWait.
func (o *outbox) drain() {
	ctx, cancel := context.WithTimeout(context.Background(), farewellWait)
	defer cancel()
	for ctx.Err() == nil {
		select {
		case b := <-o.queue:
			o.publish(ctx, b)
		default:
			return
		}
	}
}

// publish tries publishTries times; when ctx ends it lets the present try finish and does not try again.
func (o *outbox) publish(ctx context.Context, b events.Batch) {
	wait := publishWait
	for tries := 1; o.try(ctx, b) != nil; tries++ {
		if tries == publishTries || pause(ctx, wait) != nil {
			o.lost.Add(1)
			return
		}
		wait *= 2
	}
}

func (o *outbox) try(ctx context.Context, b events.Batch) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewellWait)
	defer cancel()
	return o.publisher.Publish(ctx, b)
}

// changed posts what the scheduler says about its cache. It runs inside the scheduler's loop.
func (o *outbox) changed(blocks []core.BlockEvent) { o.post(o.group(blocks)...) }

// group turns block events into cache events: consecutive blocks of one chain make one Registered, consecutive removals
// of one adapter and salt one Evicted. The order of what happened is kept.
func (o *outbox) group(blocks []core.BlockEvent) (out []events.Event) {
	for i, b := range blocks {
		if i == 0 || !follows(blocks[i-1], b) {
			out = append(out, o.opened(b))
		}
		e := &out[len(out)-1]
		e.Hashes = append(e.Hashes, uint64(b.Hash))
		e.Tokens = append(e.Tokens, b.Tokens...)
	}
	return out
}

// opened returns the event that b begins, still without b's hash and tokens.
func (o *outbox) opened(b core.BlockEvent) events.Event {
	e := events.Event{Kind: events.Evicted, Adapter: b.Adapter, Salt: b.Salt, BlockSize: o.blockSize}
	if b.Stored {
		e.Kind, e.Parent, e.Root = events.Registered, uint64(b.Parent), b.IsRoot
	}
	return e
}

// follows reports whether b goes on with the event that a is part of.
func follows(a, b core.BlockEvent) bool {
	if a.Stored != b.Stored || a.Adapter != b.Adapter || a.Salt != b.Salt {
		return false
	}
	return !b.Stored || !b.IsRoot && b.Parent == a.Hash
}
