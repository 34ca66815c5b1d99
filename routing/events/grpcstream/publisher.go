package grpcstream

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"

	"octet/routing/events"
	"octet/routing/events/octetkvpb"
)

// Publisher sends one replica's batches to a gateway.
type Publisher struct {
	conn  *grpc.ClientConn
	token string
	life  context.Context // of all streams; ends with Close
	end   context.CancelFunc

	turn   chan struct{} // cap == 1: a successful send takes ownership of what follows
	stream stream        // nil: none is open
	drop   context.CancelFunc
}

type stream = grpc.BidiStreamingClient[octetkvpb.Batch, octetkvpb.Ack]

// NewPublisher returns a Publisher, which connects when it is used. It fails with ErrConfig.
func NewPublisher(c PublisherConfig) (*Publisher, error) {
	if c.Addr == "" {
		return nil, fmt.Errorf("%w: no address", ErrConfig)
	}
	creds := insecure.NewCredentials()
	if c.TLS != nil {
		creds = credentials.NewTLS(c.TLS)
	}
	conn, err := grpc.NewClient("passthrough:///"+c.Addr,
		grpc.WithTransportCredentials(creds), grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(codec{}), grpc.MaxCallRecvMsgSize(maxAck),
			grpc.MaxCallSendMsgSize(events.MaxMessageBytes)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: idleAfter, Timeout: goneAfter}),
		grpc.WithIdleTimeout(0),
	)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	life, end := context.WithCancel(context.Background())
	return &Publisher{conn: conn, token: c.Token, life: life, end: end, turn: make(chan struct{}, 1)}, nil
}

// Publish implements events.Publisher: it returns when the gateway has taken b. It tries once; a batch whose Publish
// failed may have been taken all the same, and is safe to publish again.
func (p *Publisher) Publish(ctx context.Context, b events.Batch) error {
	b.Sift()
	message, err := events.Marshal(b)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return fmt.Errorf("grpcstream: %w", ctx.Err())
	}
	if err := p.exchange(ctx, message, b); err != nil {
		if p.drop != nil {
			p.drop()
		}
		p.stream = nil
		return fmt.Errorf("grpcstream: publishing: %w", errors.Join(err, p.reason(ctx)))
	}
	return nil
}

// reason says why ctx or everything has ended.
func (p *Publisher) reason(ctx context.Context) error {
	if p.life.Err() != nil {
		return events.ErrClosed
	}
	return ctx.Err()
}

// exchange sends one batch and waits for its Ack. The caller has the turn.
func (p *Publisher) exchange(ctx context.Context, message []byte, b events.Batch) error {
	if p.stream == nil {
		if err := p.open(ctx); err != nil {
			return err
		}
	}
	defer context.AfterFunc(ctx, p.drop)()
	if err := p.stream.SendMsg(&frame{message}); err != nil {
		_, why := p.stream.Recv() // the error above says only that it has ended
		return errors.Join(err, why)
	}
	for {
		ack, err := p.stream.Recv()
		if err != nil {
			return err
		}
		if ack.Epoch == b.Epoch && ack.Seq == b.Seq {
			return nil
		}
	}
}

// open opens a stream. Pauses between tries are the caller's.
func (p *Publisher) open(ctx context.Context) error {
	lasting, drop := context.WithCancel(p.life)
	if p.token != "" {
		lasting = metadata.AppendToOutgoingContext(lasting, "authorization", "Bearer "+p.token)
	}
	p.drop = drop
	defer context.AfterFunc(ctx, drop)()
	p.conn.ResetConnectBackoff()
	var err error
	p.stream, err = octetkvpb.NewEventsClient(p.conn).Publish(lasting)
	return err
}

// Close implements events.Publisher. Closing again does nothing.
func (p *Publisher) Close() error {
	if p.life.Err() != nil {
		return nil
	}
	p.end()
	p.turn <- struct{}{} // what is under way has ended
	defer func() { <-p.turn }()
	return p.conn.Close()
}
