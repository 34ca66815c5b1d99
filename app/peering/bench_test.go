package peering

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"octet/routing/fleet"
	"octet/routing/index"
	"octet/routing/peers"
	"octet/scheduler/gate"
)

// sink is a link to which messages go and are forgotten.
type sink struct{ sent int }

func (s *sink) Claim(context.Context) error { return nil }
func (s *sink) Put(context.Context, string, peers.Held, string) (there peers.Held, err error) {
	return peers.Held{}, peers.ErrAway
}
func (s *sink) Run(context.Context, peers.Events) {}
func (s *sink) Send(_ string, message []byte) error {
	s.sent += len(message)
	return nil
}

// busy is a gateway before so many replicas, of which a request begins or ends at each between any two looks.
func busy(b *testing.B, replicas int, link peers.Link) (g *Group, change func()) {
	b.Helper()
	f, list := fleet.New(), make([]Replica, replicas)
	for i := range list {
		name := fmt.Sprintf("engine-%d", i)
		member, err := f.Put(fleet.Spec{Name: name, Specialist: "debug", URL: "http://" + name, Host: index.HostID(i),
			Blocks: 4096, BlockSize: 16, MaxRunning: 64, HasEvents: true})
		if err != nil {
			b.Fatal(err)
		}
		admits, err := gate.New(gate.Config{Blocks: 4096, BlockSize: 16, MaxRunning: 64, Now: time.Now})
		if err != nil {
			b.Fatal(err)
		}
		list[i] = Replica{Key: peers.Key("http://"+name, "", ""), Fleet: member, Gate: admits}
	}
	g = New(Config{Name: "own", Lease: 2 * time.Second, Link: link, Log: slog.New(slog.DiscardHandler)})
	g.Serve(list)
	flights, began := make([]fleet.Flight, replicas), false
	return g, func() {
		for i := range list {
			if began {
				flights[i].Land()
			} else {
				flights[i] = list[i].Fleet.Route(fleet.Demand{Prompt: 1000, Uncached: 500})
			}
		}
		began = !began
	}
}

// A second of a gateway beside ten others at its busiest: at each of 64 replicas something changes every 20 ms, here
// and at all others. The time of an iteration, as a part of a second, is the part of a processor that it takes.
func BenchmarkASecondBesideTenGateways(b *testing.B) {
	const others, replicas, looks = 10, 64, int(time.Second / Every)
	link := new(sink)
	g, change := busy(b, replicas, link)
	tellers := make([]*peers.Teller, others)
	for i := range tellers {
		tellers[i] = peers.NewTeller(fmt.Sprintf("other-%d", i), uint64(i+1), 2*time.Second)
	}
	work, now := map[uint64]peers.Work{}, time.Now()
	b.ReportAllocs()
	for round := 0; b.Loop(); round++ {
		for look := range looks {
			b.StopTimer()
			change()
			now = now.Add(Every)
			for i := range replicas {
				work[peers.Key(fmt.Sprintf("http://engine-%d", i), "", "")] = peers.Work{Running: 1 + (round+look)%2,
					Backlog: 500 * (1 + look%3), Tokens: 1000 + look, Blocks: 70}
			}
			var told [][]byte
			for _, t := range tellers {
				if m := t.Tell(work, nil, now); m != nil {
					told = append(told, m)
				}
			}
			b.StartTimer()
			for _, m := range told {
				g.hear(m)
			}
			g.look(now)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N)*100, "%cpu")
	b.ReportMetric(float64(link.sent)/float64(b.N)/1024, "KB/s")
}
