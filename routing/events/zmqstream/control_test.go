package zmqstream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"octet/internal/await"
)

// Every address that an endpoint leads to is asked about at each dial, that of the replay socket too: a name that leads
// elsewhere after a while is not followed there, and is again once it leads back.
func TestEveryDialAsksForItsAddress(t *testing.T) {
	e := startEngine(t, PublisherConfig{Endpoint: "tcp://127.0.0.1:0", Replay: "tcp://127.0.0.1:0"})
	e.config.Endpoint, e.config.Replay = "tcp://"+e.p.Addr().String(), "tcp://"+e.p.ReplayAddr().String()
	var elsewhere atomic.Bool
	var asked sync.Map
	cell := newCell(t)
	c, err := NewConsumer(Config{Replica: "debug-0", Endpoint: e.config.Endpoint, Replay: e.config.Replay,
		Control: func(network, address string, _ syscall.RawConn) error {
			asked.Store(network+" "+address, true)
			if elsewhere.Load() {
				return errors.New("it leads elsewhere")
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var consuming sync.WaitGroup
	consuming.Go(func() { _ = c.Consume(ctx, cell.feed) })
	t.Cleanup(func() {
		cancel()
		consuming.Wait()
	})
	await.True(t, "connected", func() bool { return c.Stats().Connected })
	e.grow(3)
	cell.at(t, 3, false)
	elsewhere.Store(true)
	before := c.Stats().Failures
	_ = e.p.Close()
	e.start()
	await.True(t, "refused, again and again", func() bool { return c.Stats().Failures >= before+3 })
	if c.Stats().Connected {
		t.Error("connected to an address that was refused")
	}
	elsewhere.Store(false)
	await.True(t, "connected again", func() bool { return c.Stats().Connected })
	for _, at := range []string{e.p.Addr().String(), e.p.ReplayAddr().String()} {
		if _, ok := asked.Load("tcp4 " + at); !ok {
			t.Errorf("%s was not asked about", at)
		}
	}
}
