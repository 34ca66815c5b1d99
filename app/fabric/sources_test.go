package fabric_test

import (
	"context"
	"fmt"
	"net"
	"testing"

	"octet/app/fabric"
	"octet/config"
	"octet/internal/await"
	"octet/internal/dialing"
	"octet/internal/redistest"
	"octet/routing/events"
	"octet/routing/events/grpcstream"
	"octet/routing/events/zmtp"
)

// start starts a fabric, until the test ends.
func start(t *testing.T, f *fabric.Fabric, c config.Events) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	wait, err := f.Start(ctx, c)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		wait()
	})
}

// taken returns a port of all interfaces, until it is given back.
func taken(t *testing.T) (port string, free func()) {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, func() { _ = l.Close() }
}

const (
	unread = "a source of cache events cannot be read"
	again  = "a source of cache events can be read again"
)

// Why a source cannot be read is told by the log, once, and by the admin routes for as long as it lasts.
func TestTheLogTellsWhyASourceCannotBeRead(t *testing.T) {
	server := redistest.Start(t)
	if _, err := server.Do("SET", "octet:kv", "value"); err != nil {
		t.Fatal(err)
	}
	f, c, log := newFabric(t, new(dialing.Guard))
	c.Redis = &config.Redis{Addr: server.Addr, Stream: "octet:kv", MaxReply: 1 << 20, MaxLen: 100}
	start(t, f, c)
	await.True(t, "the log tells", func() bool { return log.count(unread) > 0 })
	before := f.SourceStats()["redis"].Failures
	await.True(t, "it is tried again", func() bool { return f.SourceStats()["redis"].Failures > before+1 })
	if log.count(unread) != 1 || log.count("WRONGTYPE") != 1 || log.count("source=redis") != 1 {
		t.Error(log.text.String())
	}
	if told := fmt.Sprint(f.Sources()["redis"]); f.SourceStats()["redis"].LastError == "" {
		t.Error(told)
	}
	if _, err := server.Do("DEL", "octet:kv"); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the log tells that it is over", func() bool { return log.count(again) == 1 })
	if at := f.SourceStats()["redis"]; !at.Connected || at.LastError != "" {
		t.Errorf("%+v", at)
	}
}

// A port that another process has when the gateway starts, the gateway before it say, is listened on once it is free.
func TestAPortThatIsTakenIsListenedOnOnceItIsFree(t *testing.T) {
	t.Run("of one engine", func(t *testing.T) {
		port, free := taken(t)
		f, c, log := newFabric(t, new(dialing.Guard))
		start(t, f, c)
		host, err := f.Admit()
		if err != nil {
			t.Fatal(err)
		}
		f.Commit(fabric.Generation{Replicas: map[string]fabric.Replica{"debug-0": {Name: "debug-0", Specialist: "debug",
			URL: "http://engine.test:1", Host: host, BlockSize: 16,
			Events: &config.ReplicaEvents{ZMQ: "tcp://*:" + port, Source: "auto"}}}})
		await.True(t, "the log tells", func() bool {
			return log.count(unread) == 1 && log.count("address already in use") == 1
		})
		free()
		at, err := zmtp.ParseEndpoint("tcp://127.0.0.1:" + port)
		if err != nil {
			t.Fatal(err)
		}
		await.True(t, "an engine can dial", func() bool {
			conn, err := at.Dial(t.Context(), "PUB", zmtp.Limits{Message: 1 << 10, Frames: 8})
			if err == nil {
				t.Cleanup(func() { _ = conn.Close() })
			}
			return err == nil
		})
		await.True(t, "the log tells that it is over", func() bool { return log.count(again) == 1 })
	})
	t.Run("of all", func(t *testing.T) {
		port, free := taken(t)
		f, c, log := newFabric(t, new(dialing.Guard))
		c.GRPC = &config.GRPC{Listen: "0.0.0.0:" + port}
		start(t, f, c)
		await.True(t, "the log tells", func() bool {
			return log.count(unread) == 1 && log.count("address already in use") == 1
		})
		free()
		p, err := grpcstream.NewPublisher(grpcstream.PublisherConfig{Addr: "127.0.0.1:" + port})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		await.True(t, "an engine is heard", func() bool {
			return p.Publish(t.Context(), events.Batch{Replica: "debug-0", Epoch: 1, Seq: 1}) == nil
		})
		await.True(t, "the log tells that it is over", func() bool { return log.count(again) == 1 })
	})
}
