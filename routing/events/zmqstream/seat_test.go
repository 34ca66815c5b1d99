package zmqstream

import (
	"net"
	"testing"
	"time"

	"octet/internal/await"
	"octet/routing/events/zmtp"
)

// Where engines dial, the one that is there is listened to until it leaves: another host that dials the same endpoint
// is turned away.
func TestAnotherHostDoesNotTakeAnEnginesSeat(t *testing.T) {
	c := newCell(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	_ = l.Close() // the gateway is to have the port
	consumer, _ := consume(t, Config{Replica: "debug-0", Endpoint: "tcp://*:" + port}, c.feed)
	dial := func(from byte) (*zmtp.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
		conn, err := d.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = conn.Close() })
		return zmtp.Open(conn, "PUB", limits())
	}
	var mine *zmtp.Conn
	await.True(t, "the engine has dialled", func() bool { mine, err = dial(1); return err == nil })
	await.True(t, "it is listened to", func() bool { return consumer.Stats().Connected })
	theirs, err := dial(2)
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the other one is turned away", func() bool { return consumer.Stats().Refused == 1 })
	if _, err := theirs.Receive(); err == nil {
		t.Error("it was asked for something")
	}
	if frames, err := mine.Receive(); err != nil || len(frames) != 1 {
		t.Errorf("the engine was not asked: %v, %v", frames, err)
	}
	if again, err := dial(1); err != nil { // the same host again: its earlier connection may be half dead
		t.Error(err)
	} else if frames, err := again.Receive(); err != nil || len(frames) != 1 {
		t.Errorf("%v, %v", frames, err)
	} else {
		_ = again.Close()
	}
	await.True(t, "the seat is free, and another one has it", func() bool {
		other, err := dial(2)
		if err != nil {
			return false
		}
		_ = other.SetReadDeadline(time.Now().Add(time.Second))
		_, err = other.Receive()
		return err == nil
	})
}
