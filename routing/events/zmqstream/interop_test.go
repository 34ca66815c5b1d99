package zmqstream

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zeromq/zmq4"

	"octet/internal/await"
	"octet/routing/events"
)

// Another implementation of ZeroMQ hears our publisher, and gets its replays.
func TestAnotherImplementationHearsOurPublisher(t *testing.T) {
	config := loopback
	config.Topic = "kv@x@m"
	e := startEngine(t, config)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sub := zmq4.NewSub(ctx)
	defer sub.Close()
	if err := sub.Dial(e.config.Endpoint); err != nil {
		t.Fatal(err)
	}
	if err := sub.SetOption(zmq4.OptionSubscribe, "kv@"); err != nil {
		t.Fatal(err)
	}
	await.True(t, "subscribed", func() bool { return subscribed(e.p) == 1 })
	e.grow(3)
	for want := range uint64(3) {
		m, err := sub.Recv()
		if err != nil || len(m.Frames) != 3 || string(m.Frames[0]) != "kv@x@m" ||
			binary.BigEndian.Uint64(m.Frames[1]) != want {
			t.Fatalf("message %d: %v, %v", want, m, err)
		}
		var d decoder
		if _, got, err := d.decode(m.Frames[2]); err != nil || len(got) != 1 || got[0].Kind != events.Registered {
			t.Fatalf("%v, %v", got, err)
		}
	}
	dealer := zmq4.NewDealer(ctx)
	defer dealer.Close()
	if err := dealer.Dial(e.config.Replay); err != nil {
		t.Fatal(err)
	}
	if err := dealer.Send(zmq4.NewMsgFrom(nil, binary.BigEndian.AppendUint64(nil, 1))); err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint64{1, 2, farSeq} {
		m, err := dealer.Recv()
		if err != nil || len(m.Frames) != 4 || len(m.Frames[0]) != 0 || binary.BigEndian.Uint64(m.Frames[2]) != want {
			t.Fatalf("replay %d: %v, %v", want, m, err)
		}
	}
}

// theirs is a publisher with a replay socket by another implementation of ZeroMQ, in the manner of vLLM before it sent
// topics back.
type theirs struct {
	pub, router zmq4.Socket
	serving     sync.WaitGroup
	mu          sync.Mutex
	kept        []message // guarded by mu
}

func startTheirs(t *testing.T) *theirs {
	t.Helper()
	s := &theirs{pub: zmq4.NewPub(t.Context()), router: zmq4.NewRouter(t.Context())}
	t.Cleanup(s.serving.Wait) // after the sockets are closed
	for _, each := range []zmq4.Socket{s.pub, s.router} {
		if err := each.Listen("tcp://127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = each.Close() })
	}
	return s
}

// serve answers replays until the test ends.
func (s *theirs) serve() {
	for {
		request, err := s.router.Recv()
		if err != nil {
			return
		}
		id, from := request.Frames[0], binary.BigEndian.Uint64(request.Frames[len(request.Frames)-1])
		s.mu.Lock()
		kept := append(slices.Clone(s.kept), message{seq: farSeq})
		s.mu.Unlock()
		for _, m := range kept {
			if m.seq < from {
				continue
			}
			// fails if the consumer has all that it asked for, and has hung up
			_ = s.router.Send(zmq4.NewMsgFrom(id, nil, m.number(), m.payload))
		}
	}
}

// publish sends the next block of the chain, and keeps it for replay.
func (s *theirs) publish() {
	s.mu.Lock()
	n := uint32(len(s.kept) + 1)
	m := message{uint64(n - 1), batch(list{"BlockStored", list{n}, n - 1, raws(4*n-3, 4), 4, nil, "GPU"})}
	s.kept = append(s.kept, m)
	s.mu.Unlock()
	// lost, as long as there is no subscriber
	_ = s.pub.Send(zmq4.NewMsgFrom([]byte("kv@x@m"), m.number(), m.payload))
}

func TestOurConsumerHearsAnotherImplementation(t *testing.T) {
	s := startTheirs(t)
	s.publish()
	s.publish()
	s.serving.Go(s.serve)
	c := newCell(t)
	consumer, _ := consume(t,
		Config{Replica: "debug-0", Endpoint: "tcp://" + s.pub.Addr().String(),
			Replay: "tcp://" + s.router.Addr().String()}, c.feed)
	c.at(t, 2, false)
	await.True(t, "subscribed and heard", func() bool {
		s.publish()
		return consumer.Stats().Messages > consumer.Stats().Replayed
	})
	s.mu.Lock()
	n := len(s.kept)
	s.mu.Unlock()
	c.at(t, n, false)
}
