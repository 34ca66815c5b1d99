package doctor_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"octet/app"
	"octet/config"
	"octet/engine/emulator"
	"octet/gateway/api"
	"octet/internal/redistest"
	"octet/routing/events"
	"octet/routing/events/redisstream"
	"octet/routing/events/zmqstream"
	"octet/routing/plugins"
)

// altered publishes batches as change leaves them.
type altered struct {
	events.Publisher
	change func(b *events.Batch)
	// gets their numbers before, unchanged and without events: what is waited for then comes last; nil if none does
	also events.Publisher
}

func (a *altered) Publish(ctx context.Context, b events.Batch) error {
	before := b
	before.Events = nil
	if a.change != nil {
		a.change(&b)
	}
	if a.also != nil {
		if err := a.also.Publish(ctx, before); err != nil {
			return err
		}
	}
	return a.Publisher.Publish(ctx, b)
}

// runEngine runs an engine until the test ends, and returns its URL.
func runEngine(t *testing.T, c emulator.Config) string {
	t.Helper()
	c.Model, c.Step = "coder", time.Millisecond
	e, err := emulator.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Run(ctx) })
	s := httptest.NewServer(e.Handler())
	t.Cleanup(func() {
		s.Close()
		cancel()
		running.Wait()
	})
	return s.URL
}

// troubles returns what is found of a configuration, but for what passes.
func troubles(t *testing.T, yaml string) (all []api.Finding) {
	t.Helper()
	cfg, err := config.Parse("heard.yaml", []byte(yaml), config.Options{Presets: plugins.Presets()})
	if err != nil {
		t.Fatal(err)
	}
	found, err := app.Examine(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Status != "pass" {
			all = append(all, f)
		}
	}
	return all
}

// one fails unless a fault was found, and no other; "" is none at all.
func one(t *testing.T, all []api.Finding, check, cure string) {
	t.Helper()
	if check == "" && len(all) > 0 {
		t.Errorf("a false alarm: %+v", all)
	}
	if check != "" && (len(all) != 1 || all[0].Check != check || !strings.Contains(all[0].Cure, cure)) {
		t.Errorf("%+v, and not %s with %q", all, check, cure)
	}
}

// Issue 22: what comes through a Redis of a test's own is judged as it was published.
func TestEventsOfASharedStreamAreJudged(t *testing.T) {
	server := redistest.Start(t)
	for _, c := range []struct {
		name, check, cure string
		change            func(b *events.Batch)
		also              string // the name of a publisher of what was not changed
	}{
		{name: "sound"},
		{name: "gaps", check: "events.gaps", cure: "events.resync_path", also: "bridge",
			change: func(b *events.Batch) { b.Seq *= 10 }}, // a gap, wherever the ear begins
		{name: "late", check: "events.lag", cure: "the way to redis",
			change: func(b *events.Batch) { b.At = b.At.Add(-time.Minute) }},
		{name: "ahead", check: "clock", cure: "timedatectl",
			change: func(b *events.Batch) { b.At = b.At.Add(time.Hour) }},
		{name: "timeless", change: func(b *events.Batch) { b.At = time.Time{} }},
		{name: "doubled", check: "events.publisher", cure: "stop all but one", also: "another"},
		{name: "strayed", check: "events.silent", cure: "name: other",
			change: func(b *events.Batch) { b.Replica = "other" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stream := "octet:" + c.name
			publisher := func(by string) events.Publisher {
				p, err := redisstream.NewPublisher(redisstream.Config{Addr: server.Addr, Stream: stream, Publisher: by})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = p.Close() })
				return p
			}
			a := &altered{Publisher: publisher("bridge"), change: c.change}
			if c.also != "" {
				a.also = publisher(c.also)
			}
			url := runEngine(t, emulator.Config{Name: "coder-0", Publisher: a})
			one(t, troubles(t, fmt.Sprintf(`
events: {redis: {addr: %q, stream: %q}}
specialists: [{name: coder, tokenizer: builtin, block_size: 16, replicas: [{url: %q, engine: vllm}]}]`,
				server.Addr, stream, url)), c.check, c.cure)
		})
	}
}

// Issue 22: each data-parallel rank has a socket of its own, and the one of another rank is told.
func TestASocketOfAnotherRankIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		rank        int // that is published
		check, cure string
	}{
		"its own": {rank: 1},
		"another": {rank: 3, check: "events.publisher", cure: "the port of rank 0, plus 1"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := zmqstream.NewPublisher(zmqstream.PublisherConfig{Endpoint: "tcp://127.0.0.1:0",
				Replay: "tcp://127.0.0.1:0", Rank: c.rank})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Close() })
			url := runEngine(t, emulator.Config{Name: "coder-0", Publisher: p, Rank: 1})
			one(t, troubles(t, fmt.Sprintf(`
specialists:
  - {name: coder, tokenizer: builtin, block_size: 16, replicas: [{url: %q, engine: vllm, dp_rank: 1,
      events: {zmq: "tcp://%s", replay: "tcp://%s"}}]}`, url, p.Addr(), p.ReplayAddr())), c.check, c.cure)
		})
	}
}
