package zmqstream

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// follower puts what one engine publishes in order and gives its lives epochs. Owned by the goroutine of Consume.
type follower struct {
	*Consumer
	lane    events.Carrier
	decoder decoder

	epoch   uint64
	told    bool   // something was delivered, ever: there may be something to wipe
	heard   bool   // something of this life was delivered
	started bool   // last and mark are of this life
	last    uint64 // the number of the batch taken last
	mark    uint64 // of that batch
	unsure  bool   // the engine may be another one than last is of
	owed    bool   // a replay could not be had, and is to be tried again
	doubt   bool   // the life that begins may be the one before: nothing said that it is another
	before  uint64 // the number of the batch taken last of that one

	live     bool   // seen is meaningful
	seen     uint64 // the number that this connection brought last
	attempts int    // tries of one replay

	partial  bool          // batches of this life are missing for good: the engine is to be asked for all that it holds
	pause    time.Duration // between the last two times that it was asked in vain
	askAgain time.Time     // not before
	spoilt   time.Time     // when a batch could not be read; of those shortly after it nothing is noted
}

func newFollower(c *Consumer, lane events.Carrier) *follower {
	f := &follower{Consumer: c, lane: lane, attempts: replayTries}
	if c.config.Resume == nil {
		return f
	}
	if at, ok := c.config.Resume(); ok {
		f.epoch, f.last, f.mark = at.Epoch, at.Seq, at.Mark
		f.told, f.heard, f.started, f.unsure = true, true, true, true
	}
	return f
}

// session follows one connection to its end.
func (f *follower) session(ctx context.Context, conn *zmtp.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if err := conn.Subscribe(f.config.Topic); err != nil {
		return err
	}
	in := newInbox()
	var reading sync.WaitGroup
	reading.Go(func() { in.fill(conn, &f.meter) })
	defer reading.Wait()
	defer func() { _ = conn.Close() }() // again, mostly
	f.live = false
	f.settle(ctx)
	look := time.NewTimer(lookFirst)
	defer look.Stop()
	for {
		select {
		case m, ok := <-in.queue:
			if !ok {
				f.unsure = f.started
				return in.err
			}
			in.took(m)
			f.take(ctx, m)
		case <-look.C:
			f.look(ctx)
			look.Reset(lookEvery)
		}
	}
}

// settle finds out where the engine stands, at the start of a connection.
func (f *follower) settle(ctx context.Context) {
	switch {
	case !f.started:
		f.anew(ctx, false)
	case f.unsure:
		f.resume(ctx)
	}
	f.restore(ctx)
}

// look reads what may be missing without anything having come after it.
func (f *follower) look(ctx context.Context) {
	switch {
	case f.replay == nil:
	case f.owed || !f.started:
		f.anew(ctx, false)
	default:
		f.resume(ctx)
	}
	f.restore(ctx)
}

// take puts one message that came by itself in its place.
func (f *follower) take(ctx context.Context, m message) {
	if f.live && m.seq <= f.seen {
		f.anew(ctx, true) // numbers that go back are another life's
	}
	f.live, f.seen = true, m.seq
	if f.started && m.seq <= f.last {
		return // it was replayed
	}
	if f.missing(m.seq) && f.replay != nil {
		f.resume(ctx)
	}
	f.partial = f.missing(m.seq) || f.started && f.partial
	f.restore(ctx)
	if !f.started || m.seq > f.last {
		f.put(m)
	}
}

// missing reports whether something must have been published before seq that was not taken.
func (f *follower) missing(seq uint64) bool {
	if !f.started {
		return seq > 1
	}
	return seq > f.last+1
}

// put delivers a batch. One that cannot be read is delivered as lost.
func (f *follower) put(m message) {
	f.partial = f.missing(m.seq) || f.started && f.partial
	f.started, f.last, f.mark = true, m.seq, xxh3.Hash(m.payload)
	f.doubt = f.doubt && m.seq > f.before
	at, changes, err := f.decoder.decode(m.payload)
	if err != nil {
		f.lose(m)
		return
	}
	if own := f.config.Rank; own != nil && f.decoder.rank != noRank && f.decoder.rank != int64(*own) {
		f.meter.Misdirected()
		if f.told && !f.heard { // the life before is over all the same
			f.deliverLost(m)
		}
		return
	}
	b := events.Batch{Replica: f.config.Replica, Epoch: f.epoch, Seq: m.seq, At: at, Events: changes, Mark: f.mark,
		Refused: f.decoder.refused}
	b.Sift()
	f.partial = f.partial && !slices.ContainsFunc(b.Events, empties)
	f.meter.Took(at, time.Now())
	f.deliver(b)
	f.doubt = false
}

// deliverLost delivers a batch without what it told.
func (f *follower) deliverLost(m message) {
	f.deliver(events.Batch{Replica: f.config.Replica, Epoch: f.epoch, Seq: m.seq, Mark: f.mark, Lost: true})
}

// lose tells of a batch that cannot be read. The engine is asked for all that it holds; where more of them come, not
// for each.
func (f *follower) lose(m message) {
	f.meter.Skipped()
	f.partial = true
	again := f.spoilt.Add(snapshotAgain)
	if now := time.Now(); now.After(again) {
		f.spoilt = now
	} else if f.askAgain.Before(again) {
		f.askAgain = again
	}
	f.deliverLost(m)
	f.doubt = false
}

// empties reports whether e leaves nothing in the cache: whatever was missed before does not matter then.
func empties(e events.Event) bool { return e.Kind == events.Cleared }

func (f *follower) deliver(b events.Batch) {
	f.told, f.heard, b.Unsure = true, true, f.doubt
	f.lane.Deliver(b)
}

// anew begins another life, or goes on with the one before without knowing it: then another is false. All that can be
// replayed of it is read at once. Where that is nothing, what was known before is wiped, and the replica is stale
// unless it is sure that nothing was published.
func (f *follower) anew(ctx context.Context, another bool) {
	wipe := f.told
	f.doubt = f.told && !another && (f.started || f.doubt)
	if f.started {
		f.before = f.last
	}
	f.epoch = max(f.epoch+1, uint64(time.Now().UnixNano()))
	f.started, f.heard, f.unsure, f.live, f.partial, f.decoder = false, false, false, false, false, decoder{}
	err := f.ask(ctx, 0, func(m message) bool {
		f.again(m)
		return true
	})
	f.owed = err != nil && f.replay != nil
	f.partial = f.partial || err != nil // more than was replayed may have been published
	if f.started || !wipe || ctx.Err() != nil {
		return
	}
	f.meter.Rewound()
	if err == nil {
		f.doubt = false
		f.deliver(events.Batch{Replica: f.config.Replica, Epoch: f.epoch,
			Events: []events.Event{{Kind: events.Cleared}}})
	} else {
		f.deliver(events.Batch{Replica: f.config.Replica, Epoch: f.epoch, Seq: 2}) // no engine begins with that number
	}
	f.epoch++ // whatever comes next begins by itself
}

// resume reads what came after the batch taken last, when the engine still knows that one. When it does not, it is
// another life.
func (f *follower) resume(ctx context.Context) {
	if !f.started {
		f.anew(ctx, false)
		return
	}
	same, another, first := false, true, true
	err := f.ask(ctx, f.last, func(m message) bool {
		if first {
			first = false
			same = m.seq == f.last && xxh3.Hash(m.payload) == f.mark
			another = m.seq <= f.last
			return same
		}
		f.again(m)
		return true
	})
	switch {
	case same:
		f.unsure, f.owed = false, err != nil
	case err == nil || f.unsure:
		f.anew(ctx, err == nil && another)
	default:
		f.owed = true
	}
}

// again takes a batch that was replayed.
func (f *follower) again(m message) {
	if f.started && m.seq <= f.last {
		return
	}
	f.meter.Recovered()
	f.put(m)
}
