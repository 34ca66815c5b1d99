package peering

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"octet/kvpool"
	"octet/routing/fleet"
	"octet/routing/peers"
	"octet/routing/peers/peerspb"
)

// Prompts that another gateway has sent to a replica that is served here are taken in, once however often they come;
// hashes of another seed are not, which is said once.
func TestWhatAnotherGatewayRoutedIsTakenIn(t *testing.T) {
	g, r := oneReplica(t)
	var log bytes.Buffer
	var got []kvpool.BlockHash
	g.cfg.Log, g.cfg.Hashing = slog.New(slog.NewTextHandler(&log, nil)), 5
	g.cfg.Routed = func(of *fleet.Replica, chain []kvpool.BlockHash) {
		if of != r.Fleet {
			t.Error("of another replica")
		}
		got = append(got, chain...)
	}
	message := func(from string, hashing uint64) []byte {
		return peers.NewTeller(from, 1, time.Second).Tell(nil, &peerspb.Message{Hashing: hashing,
			Routed: []*peerspb.Routed{{Replica: r.Key, Blocks: []uint64{3, 1}},
				{Replica: r.Key + 1, Blocks: []uint64{9}}}},
			time.Now())
	}
	same := message("same", 5)
	g.hear(same, time.Now())
	g.hear(same, time.Now())
	if !slices.Equal(got, []kvpool.BlockHash{3, 1}) {
		t.Errorf("%v is taken in", got)
	}
	foreign := peers.NewTeller("foreign", 1, time.Second)
	for range 3 {
		g.hear(foreign.Tell(nil, &peerspb.Message{Hashing: 6, Routed: []*peerspb.Routed{{Replica: r.Key,
			Blocks: []uint64{4}}}}, time.Now()), time.Now())
	}
	if n := strings.Count(log.String(), "another seed"); n != 1 || len(got) != 2 {
		t.Errorf("it is said %d times, and %v is taken in", n, got)
	}
}

// What is routed here is told where there is another gateway, once, and no more than the bound.
func TestWhatIsRoutedIsTold(t *testing.T) {
	g, r := oneReplica(t)
	g.news.hashing = 5
	now := time.Now()
	g.Routed(0, []kvpool.BlockHash{1}, now) // to none
	g.hear(peers.NewTeller("other", 1, time.Hour).Tell(nil, nil, now), now)
	told := func() *peerspb.Message {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.news.write(nil, now)
	}
	g.Routed(0, []kvpool.BlockHash{3, 1}, now)
	g.Routed(99, []kvpool.BlockHash{3, 1}, now) // no replica
	m := told()
	if len(m.GetRouted()) != 1 || m.GetRouted()[0].GetReplica() != r.Key || m.GetHashing() != 5 ||
		!slices.Equal(m.GetRouted()[0].GetBlocks(), []uint64{3, 1}) {
		t.Errorf("%v is told", m)
	}
	if m := told(); m != nil {
		t.Errorf("%v is told again", m)
	}
	g.Routed(0, make([]kvpool.BlockHash, hashesPerSecond), now)
	if m := told(); m != nil || g.counts().Dropped != 1 {
		t.Errorf("%d are told, %d dropped", len(m.GetRouted()), g.counts().Dropped)
	}
	g.Routed(0, make([]kvpool.BlockHash, 100), now.Add(time.Second))
	if m := told(); len(m.GetRouted()) != 1 {
		t.Error("a second later nothing is told")
	}
}
