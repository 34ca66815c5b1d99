package doctor

import (
	"context"
	"sync"
	"time"

	"octet/app/fabric"
	"octet/config"
	"octet/engine/openai"
	"octet/engine/tokenizers"
	"octet/gateway/api"
	"octet/routing/events"
	"octet/routing/events/natsstream"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
)

const (
	atOnce      = 16   // replicas that are examined at a time
	maxSubjects = 1024 // names that an ear tells apart
	wholeFor    = 2 * time.Minute
	keptMost    = 1000 // batches of a replay that are enough
)

// Cell is what is examined: a gateway's replicas, and what they share.
type Cell struct {
	Subjects []Subject
	Events   config.Events
	Control  openai.Config                 // to the peer: its guard
	Issuer   func(context.Context) *Issuer // nil without auth.jwt
}

// Examine returns the findings on all replicas of a cell, in their order, and then on what they share. It takes some
// seconds, and two minutes at most: what has brought no answer by then counts as none.
func Examine(ctx context.Context, c *Cell) []api.Finding {
	ctx, cancel := context.WithTimeout(ctx, wholeFor)
	defer cancel()
	var listening sync.WaitGroup
	hearing, deaf := context.WithCancel(ctx)
	defer listening.Wait()
	defer deaf()
	ears := sharedEars(hearing, &listening, &c.Events)
	var running sync.WaitGroup
	shared := &Shared{Events: c.Events}
	running.Go(func() { shared.look(ctx, c) })
	for _, e := range ears {
		e.await(ctx)
	}
	all := make([]*Facts, len(c.Subjects))
	room := make(chan struct{}, atOnce)
	for i := range c.Subjects {
		room <- struct{}{}
		running.Go(func() {
			defer func() { <-room }()
			all[i] = examine(ctx, &c.Subjects[i], ears)
		})
	}
	running.Wait()
	names := map[string]bool{}
	for i := range c.Subjects {
		names[c.Subjects[i].Replica.Name] = true
	}
	var found []api.Finding
	for _, f := range all {
		for _, e := range ears {
			if e.source == f.Source {
				f.Others = e.others(names)
			}
		}
		found = append(found, judge(f)...)
	}
	return append(found, judgeShared(shared)...)
}

// examine gathers the facts of one replica.
func examine(ctx context.Context, s *Subject, shared []*ear) *Facts {
	f, client := Ask(ctx, s)
	defer closeClient(client)
	if f.Reach == nil {
		f.Compared, f.ComparedErr = asked(ctx, tryFor, func(ctx context.Context) (tokenizers.Comparison, error) {
			return f.compare(ctx, client)
		})
	}
	var running sync.WaitGroup
	defer running.Wait()
	hearing, deaf := context.WithCancel(ctx)
	defer deaf()
	var mine []*ear
	for _, e := range shared {
		if carries(e.source, s.Replica.Events) {
			mine = append(mine, e)
		}
	}
	if own := s.Replica.Events; own != nil && own.ZMQ != "" {
		e := zmqEar(hearing, &running, s)
		e.await(ctx)
		mine = append([]*ear{e}, mine...)
	}
	before, was := s.position()
	if f.Reach == nil {
		f.trials(ctx, client)
		if !f.await(ctx, mine, before, was) && f.again(ctx, client) { // a subscription may have come late
			f.await(ctx, mine, before, was)
		}
	}
	f.hear(mine)
	f.Met = s.met()
	if now, is := s.position(); is && (!was || now != before) {
		f.Moved = true
	}
	if own := s.Replica.Events; own != nil && own.Replay != "" {
		f.Kept, f.KeptErr = asked(ctx, askFor, func(ctx context.Context) (zmqstream.Kept, error) {
			return zmqstream.CountKept(ctx, socketsOf(s), keptMost)
		})
	}
	return f
}

// position returns how far a gateway has applied the replica's batches; false without one.
func (s *Subject) position() (at events.Position, ok bool) {
	if s.Known == nil || s.Known.Position == nil {
		return at, false
	}
	return s.Known.Position()
}

// await returns once blocks of the trials were heard of, or after hearFor. It returns false if they were waited for in
// vain.
func (f *Facts) await(ctx context.Context, ears []*ear, before events.Position, was bool) bool {
	if f.Why != "" || f.First != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, hearFor)
	defer cancel()
	tick := time.NewTicker(hearEvery)
	defer tick.Stop()
	for !f.told(ears, before, was) {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// told returns true if blocks were heard of, or nothing can be heard.
func (f *Facts) told(ears []*ear, before events.Position, was bool) bool {
	deaf := f.Known == nil
	for _, e := range ears {
		h := e.of(f.Replica.Name)
		if len(h.Stored) > 0 {
			return true
		}
		deaf = deaf && !h.Open
	}
	if now, is := f.position(); len(ears) == 0 && is && (!was || now != before) {
		return true
	}
	return deaf
}

// hear takes over what the ear has heard that heard most of the replica.
func (f *Facts) hear(ears []*ear) {
	for i, e := range ears {
		if h := e.of(f.Replica.Name); i == 0 || h.Batches > f.Batches || h.Open && !f.Open {
			f.Heard = h
		}
	}
}

// look asks what all share.
func (s *Shared) look(ctx context.Context, c *Cell) {
	if c.Issuer != nil {
		s.Issuer, _ = asked(ctx, askFor, func(ctx context.Context) (*Issuer, error) { return c.Issuer(ctx), nil })
	}
	if r := c.Events.Redis; r != nil {
		at, err := fabric.Redis(r)
		if s.RedisErr = err; err == nil {
			s.Redis, s.RedisErr = asked(ctx, askFor, func(ctx context.Context) (redisstream.Standing, error) {
				return redisstream.Look(ctx, at)
			})
		}
	}
	if n := c.Events.NATS; n != nil {
		s.NATS, s.NATSErr = asked(ctx, askFor, func(ctx context.Context) (natsstream.Standing, error) {
			return natsstream.Look(ctx, fabric.NATS(n))
		})
	}
	if c.Events.Snapshot.Peer == "" {
		return
	}
	at := c.Control
	at.URL = c.Events.Snapshot.Peer
	client, err := openai.New(at)
	if s.PeerErr = err; err == nil {
		defer closeClient(client)
		s.Peer, s.PeerErr = asked(ctx, askFor, client.Ahead)
	}
}
