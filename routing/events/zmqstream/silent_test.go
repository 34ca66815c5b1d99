package zmqstream

import (
	"net"
	"testing"
	"time"

	"octet/internal/await"
	"octet/routing/events/zmtp"
)

// A peer that dials and says nothing has five seconds: one after the other, ten of them would keep an engine out for
// fifty.
func TestASilentPeerDelaysNoOther(t *testing.T) {
	c := newCell(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_, port, _ := net.SplitHostPort(at)
	_ = l.Close() // the gateway is to have the port
	consumer, _ := consume(t, Config{Replica: "debug-0", Endpoint: "tcp://*:" + port}, c.feed)
	await.True(t, "it listens", func() bool {
		conn, err := net.Dial("tcp", at)
		if err == nil {
			t.Cleanup(func() { _ = conn.Close() })
		}
		return err == nil
	})
	for range 9 {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	engine, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	began := time.Now()
	if _, err := zmtp.Open(engine, "PUB", limits()); err != nil {
		t.Fatalf("after %v: %v", time.Since(began), err)
	}
	await.True(t, "the engine is listened to", func() bool { return consumer.Stats().Connected })
}
