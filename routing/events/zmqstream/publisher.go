package zmqstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"octet/routing/events"
	"octet/routing/events/zmtp"
)

// Defaults of PublisherConfig.
const (
	DefaultBuffer = 10_000 // batches
	DefaultQueue  = 10_000 // messages
)

const bufferBytes = 256 << 20 // of the batches kept for replay

// PublisherConfig is one engine's side.
type PublisherConfig struct {
	Endpoint string // of the PUB socket. Required
	Replay   string // of the ROUTER socket; "": none
	Snapshot string // of the ROUTER socket that tells all that is held on the GPU; "": none
	Topic    string // of every message
	Rank     int    // the engine's data-parallel rank, which batches say
	Layout   Layout // "" is Maps
	Buffer   int    // batches kept for replay, 256 MiB at most; 0 = DefaultBuffer
	Queue    int    // messages that wait for one slow subscriber, beyond which it loses them; 0 = DefaultQueue
}

// Publisher publishes as vLLM does. Where vLLM goes by the look of its endpoint alone, this one listens if it can and
// dials else: on tcp://host:port of this machine it listens, unless the gateway does.
type Publisher struct {
	config PublisherConfig
	peers  peers
	live   net.Listener // nil where it dials
	replay net.Listener // nil: none
	whole  net.Listener // for snapshots; nil: none
	end    context.CancelFunc
	tasks  sync.WaitGroup

	mu      sync.Mutex
	closed  bool // guarded by mu
	epoch   uint64
	last    uint64 // published; 0 is nothing
	encoder encoder
	ring    ring   // guarded by mu
	mirror  mirror // of what is held; nil without snapshots; guarded by mu
}

// NewPublisher opens the sockets. It fails with ErrConfig.
func NewPublisher(c PublisherConfig) (*Publisher, error) {
	if c.Layout == "" {
		c.Layout = Maps
	}
	if c.Buffer == 0 {
		c.Buffer = DefaultBuffer
	}
	if c.Queue == 0 {
		c.Queue = DefaultQueue
	}
	if c.Buffer < 0 || c.Queue < 0 || c.Layout != Maps && c.Layout != Arrays {
		return nil, fmt.Errorf("%w: buffer %d, queue %d, layout %q", ErrConfig, c.Buffer, c.Queue, c.Layout)
	}
	p := &Publisher{config: c, encoder: encoder{layout: c.Layout, rank: c.Rank}, ring: ring{most: c.Buffer},
		peers: peers{most: c.Queue}}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrConfig, err), p.Close())
	}
	return p, nil
}

func (p *Publisher) open(ctx context.Context) error {
	at, err := zmtp.ParseEndpoint(p.config.Endpoint)
	if err != nil {
		return err
	}
	if p.replay, err = p.serve(p.config.Replay, p.answer); err != nil {
		return err
	}
	if p.config.Snapshot != "" {
		p.mirror = mirror{}
	}
	if p.whole, err = p.serve(p.config.Snapshot, p.tell); err != nil {
		return err
	}
	if p.live, err = at.Listen(); err == nil {
		p.tasks.Go(func() { p.accept(p.live, "PUB", p.peers.serve) })
		return nil
	}
	p.live = nil
	if at.Any() || at.Local() {
		return err
	}
	p.tasks.Go(func() { p.dial(ctx, at) })
	return nil
}

// serve listens as a ROUTER at an endpoint; at none where that is empty.
func (p *Publisher) serve(endpoint string, each func(*zmtp.Conn)) (net.Listener, error) {
	if endpoint == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	at, err := zmtp.ParseEndpoint(endpoint)
	if err != nil {
		return nil, err
	}
	l, err := at.Listen()
	if err != nil {
		return nil, err
	}
	p.tasks.Go(func() { p.accept(l, "ROUTER", each) })
	return l, nil
}

// Addr returns where the PUB socket listens; nil where it dials.
func (p *Publisher) Addr() net.Addr { return addrOf(p.live) }

// ReplayAddr returns where the ROUTER socket listens that replays; nil without one.
func (p *Publisher) ReplayAddr() net.Addr { return addrOf(p.replay) }

// SnapshotAddr returns where the ROUTER socket listens that tells all that is held; nil without one.
func (p *Publisher) SnapshotAddr() net.Addr { return addrOf(p.whole) }

func addrOf(l net.Listener) net.Addr {
	if l == nil {
		return nil
	}
	return l.Addr()
}

// accept serves each connection until the listener is closed.
func (p *Publisher) accept(l net.Listener, kind string, serve func(*zmtp.Conn)) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer c.Close()
			if conn, err := zmtp.Open(c, kind, zmtp.Limits{Message: maxRequest, Frames: maxFrames}); err == nil &&
				p.peers.keep(conn) {
				defer p.peers.drop(conn)
				serve(conn)
			}
		})
	}
}

const maxRequest = 4 << 10 // bytes of a subscription or of a replay's request

// dial keeps a connection to a gateway that listens.
func (p *Publisher) dial(ctx context.Context, at zmtp.Endpoint) {
	for wait := events.NewBackoff(); ctx.Err() == nil; wait.Pause(ctx) {
		dialling, cancel := context.WithTimeout(ctx, dialTimeout)
		conn, err := at.Dial(dialling, "PUB", zmtp.Limits{Message: maxRequest, Frames: maxFrames})
		cancel()
		if err != nil {
			continue
		}
		if p.peers.keep(conn) {
			p.peers.serve(conn)
			p.peers.drop(conn)
		}
		_ = conn.Close() // it has failed, or everything ends
		wait.Reset()
	}
}

// Publish implements events.Publisher: it hands b to all subscribers of the moment, and keeps it for replay. It never
// waits, and what was published before it does not publish again. Like an engine, it sends events that a reader will
// leave out. vLLM numbers from 0, so b has one less there.
func (p *Publisher) Publish(_ context.Context, b events.Batch) error {
	sifted := b
	sifted.Sift()
	if err := sifted.Check(); err != nil {
		return err
	}
	if b.At.IsZero() {
		b.At = time.Now()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return fmt.Errorf("zmqstream: %w", events.ErrClosed)
	}
	if b.Epoch == p.epoch && b.Seq <= p.last {
		return nil
	}
	p.epoch, p.last = b.Epoch, b.Seq
	m := message{max(b.Seq, 1) - 1, p.encoder.encode(b)}
	p.ring.add(m)
	p.mirror.follow(sifted.Events)
	p.peers.send(p.config.Topic, m)
	return nil
}

// Close implements events.Publisher: it gives what is still queued a moment to leave, and returns when everything has
// ended.
func (p *Publisher) Close() error {
	p.mu.Lock()
	again := p.closed
	p.closed = true
	p.mu.Unlock()
	if !again {
		p.peers.flush(farewell)
	}
	p.end()
	for _, l := range []net.Listener{p.live, p.replay, p.whole} {
		if l != nil {
			_ = l.Close() // closed before, or now
		}
	}
	p.peers.close()
	p.tasks.Wait()
	return nil
}

// answer serves replays to one peer: [empty, number] asks for everything from that number on.
func (p *Publisher) answer(conn *zmtp.Conn) {
	for {
		frames, err := conn.Receive()
		if err != nil {
			return
		}
		m, ok := parse(append(frames, nil))
		if !ok {
			continue
		}
		if p.sendAll(conn, m.seq) != nil {
			return
		}
	}
}

func (p *Publisher) sendAll(conn *zmtp.Conn, from uint64) error {
	p.mu.Lock()
	kept := p.ring.from(from)
	p.mu.Unlock()
	for _, m := range kept {
		if err := p.reply(conn, []byte(p.config.Topic), m); err != nil {
			return err
		}
	}
	return p.reply(conn, nil, message{seq: farSeq})
}

// reply sends one batch of a replay. Before it wrote maps, vLLM left the topic out.
func (p *Publisher) reply(conn *zmtp.Conn, topic []byte, m message) error {
	if p.config.Layout == Arrays {
		return conn.Send(nil, m.number(), m.payload)
	}
	return conn.Send(nil, topic, m.number(), m.payload)
}
