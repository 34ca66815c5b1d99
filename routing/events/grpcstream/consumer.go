package grpcstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"octet/routing/events"
	"octet/routing/events/octetkvpb"
)

// Consumer serves engines that publish.
type Consumer struct {
	config Config
	grants grants
	meter  events.Meter
	open   atomic.Int64 // streams

	mu   sync.Mutex
	addr net.Addr // guarded by mu
}

// NewConsumer returns a Consumer, without listening yet. It fails with ErrConfig.
func NewConsumer(c Config) (*Consumer, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Consumer{config: c, grants: newGrants(c.Tokens)}, nil
}

// Stats returns what Consume has done so far. It is connected while it listens.
func (c *Consumer) Stats() events.ConsumerStats { return c.meter.Stats() }

// Streams returns how many are open.
func (c *Consumer) Streams() int { return int(c.open.Load()) }

// Addr returns where it listens; nil while it does not.
func (c *Consumer) Addr() net.Addr {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addr
}

func (c *Consumer) at(a net.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addr = a
}

// Consume implements events.Consumer: it serves until ctx ends, and then returns ctx.Err(); ErrConfig where it cannot
// listen.
func (c *Consumer) Consume(ctx context.Context, sink events.Sink) error {
	return events.Persist(ctx, &c.meter, func() error { return c.consume(ctx, sink) })
}

func (c *Consumer) consume(ctx context.Context, sink events.Sink) error {
	l := c.config.Listener
	if l == nil {
		var err error
		if l, err = net.Listen("tcp", c.config.Listen); err != nil {
			return fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	server := grpc.NewServer(c.options()...)
	octetkvpb.RegisterEventsServer(server, &service{Consumer: c, sink: sink})
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		server.Stop()
	})
	c.at(l.Addr())
	c.meter.Up()
	err := server.Serve(l)
	c.meter.Down()
	c.at(nil)
	if stop() {
		server.Stop()
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	<-ended
	return ctx.Err()
}

func (c *Consumer) options() []grpc.ServerOption {
	o := []grpc.ServerOption{
		grpc.ForceServerCodecV2(codec{}),
		grpc.MaxRecvMsgSize(events.MaxMessageBytes),
		grpc.MaxConcurrentStreams(streamsAConn),
		grpc.MaxHeaderListSize(16 << 10),
		grpc.ConnectionTimeout(5 * time.Second),
		grpc.WaitForHandlers(true),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: idleAfter, Timeout: goneAfter}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: idleAfter / 3, PermitWithoutStream: true}),
	}
	if c.config.TLS != nil {
		o = append(o, grpc.Creds(credentials.NewTLS(c.config.TLS)))
	}
	return o
}

// service is one Consume.
type service struct {
	octetkvpb.UnimplementedEventsServer
	*Consumer
	sink events.Sink
}

// Publish implements octetkvpb.EventsServer. A panic ends its stream alone.
func (s *service) Publish(stream grpc.BidiStreamingServer[octetkvpb.Batch, octetkvpb.Ack]) error {
	err := events.Guard(func() error { return s.publish(stream) })
	if errors.Is(err, events.ErrPanic) {
		s.meter.Panicked(err)
		return status.Error(codes.Internal, "the batch could not be taken")
	}
	return err
}

func (s *service) publish(stream grpc.BidiStreamingServer[octetkvpb.Batch, octetkvpb.Ack]) error {
	if s.open.Add(1) > MaxStreams {
		s.open.Add(-1)
		return status.Error(codes.ResourceExhausted, "too many streams")
	}
	defer s.open.Add(-1)
	granted, err := s.authorize(stream.Context())
	if err != nil {
		return err
	}
	lane := events.OpenSession(s.sink)
	defer lane.Close()
	by := events.Speaker{Name: granted.name, Lasting: true}
	if by.Name == "" {
		by.Name = caller(stream.Context())
	}
	replica := ""
	for {
		b, err := s.receive(stream)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if replica == "" {
			replica = b.Replica
		}
		if b.Replica != replica || !granted.covers(replica) {
			s.meter.Denied()
			return status.Errorf(codes.PermissionDenied, "this stream may not speak for %q", b.Replica)
		}
		s.meter.Took(b.At, time.Now())
		b.By = by
		lane.Deliver(b)
		if err := stream.Send(&octetkvpb.Ack{Epoch: b.Epoch, Seq: b.Seq}); err != nil {
			return err
		}
	}
}

// caller names a publisher without a token: by its certificate, else by its host.
func caller(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return ""
	}
	if t, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(t.State.PeerCertificates) > 0 {
		hash := sha256.Sum256(t.State.PeerCertificates[0].RawSubject)
		return fmt.Sprintf("certificate %x", hash[:4])
	}
	host, _, err := net.SplitHostPort(p.Addr.String())
	if err != nil {
		return p.Addr.String()
	}
	return host
}

// receive returns the next batch. Anything else ends the stream: its number is not known, and nothing after it could be
// in order.
func (s *service) receive(stream grpc.ServerStream) (events.Batch, error) {
	var f frame
	if err := stream.RecvMsg(&f); err != nil {
		return events.Batch{}, err
	}
	b, err := events.Unmarshal(f.data)
	if err != nil {
		s.meter.Skipped()
		return events.Batch{}, status.Error(codes.InvalidArgument, err.Error())
	}
	return b, nil
}

func (s *service) authorize(ctx context.Context) (grant, error) {
	var header string
	if sent := metadata.ValueFromIncomingContext(ctx, "authorization"); len(sent) > 0 {
		header = sent[0]
	}
	granted, ok := s.grants.find(header)
	if !ok {
		err := status.Error(codes.Unauthenticated, "a token is required")
		s.meter.Failed(err)
		return grant{}, err
	}
	return granted, nil
}
