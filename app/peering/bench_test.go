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
	"octet/routing/peers/peerspb"
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

// busy is a gateway before many replicas. A request begins or ends at those that change.
func busy(b *testing.B, link peers.Link) (g *Group, change func(which func(i int) bool)) {
	b.Helper()
	f, list := fleet.New(), make([]Replica, engines)
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
	flights, began := make([]fleet.Flight, engines), make([]bool, engines)
	return g, func(which func(i int) bool) {
		for i := range list {
			switch {
			case !which(i):
			case began[i]:
				began[i] = false
				flights[i].Land()
				ticket, err := list[i].Gate.Admit(b.Context(), gate.Request{ID: "a request", PromptTokens: 1000})
				if err != nil {
					b.Fatal(err)
				}
				ticket.FirstToken()
				ticket.Release()
				g.Shares(list[i].Key).Started("a-tenant", 0, -100)
			default:
				began[i] = true
				g.Shares(list[i].Key).Started("a-tenant", 0, 600)
				flights[i] = list[i].Fleet.Route(fleet.Demand{Prompt: 1000, Uncached: 500})
			}
		}
	}
}

// A second of a gateway beside ten others: at each of 64 replicas, or at two in three, something changes every 20 ms,
// here and at all others. Two in three is what 1,000 requests a second make, as each begins, has its first token and
// ends. What the messages and looks of an iteration take, as a part of a second, is the part of a processor (%cpu).
func BenchmarkASecondBesideTenGateways(b *testing.B) {
	b.Run("all change", func(b *testing.B) { second(b, 1, 1) })
	b.Run("1,000 requests", func(b *testing.B) { second(b, 2, 3) })
}

const others, engines, looks = 10, 64, int(time.Second / Every)

// second plays seconds in which so many of so many replicas change between two looks.
func second(b *testing.B, change, of int) {
	link := new(sink)
	g, own := busy(b, link)
	tellers, works := make([]*peers.Teller, others), make([]map[uint64]peers.Work, others)
	for i := range tellers {
		tellers[i] = peers.NewTeller(fmt.Sprintf("other-%d", i), uint64(i+1), 2*time.Second)
		works[i] = map[uint64]peers.Work{}
	}
	keys := make([]uint64, engines)
	for i := range keys {
		keys[i] = peers.Key(fmt.Sprintf("http://engine-%d", i), "", "")
	}
	started, measured := new(peerspb.Message), new(peerspb.Message)
	for _, key := range keys {
		started.Started = append(started.Started, &peerspb.Started{Replica: key, Tenant: "a-tenant", Cost: 700})
		measured.Firsts = append(measured.Firsts, &peerspb.First{Replica: key, Uncached: 500, Others: 4000,
			TookUs: 300_000})
	}
	now, turn, took := time.Now(), 0, time.Duration(0)
	changes := func(i int) bool { return (i+turn)%of < change }
	for b.Loop() {
		for look := range looks {
			now = now.Add(Every)
			own(changes)
			var told [][]byte
			for i, t := range tellers {
				var news *peerspb.Message
				if look%int(startsEvery/Every) == i%int(startsEvery/Every) {
					news = &peerspb.Message{Started: started.Started}
				}
				if look%int(firstsEvery/Every) == i%int(firstsEvery/Every) {
					if news == nil {
						news = new(peerspb.Message)
					}
					news.Firsts = measured.Firsts
				}
				for r, key := range keys {
					if changes(r + i) {
						works[i][key] = peers.Work{Running: 1 + turn%2, Backlog: 500 * (1 + look%3),
							Tokens: 1000 + look, Blocks: 70}
					}
				}
				if m := t.Tell(works[i], news, now); m != nil {
					told = append(told, m)
				}
			}
			turn++
			began := time.Now()
			for i, m := range told {
				g.hear(m, now.Add(Every*time.Duration(i-others)/others))
			}
			g.look(now)
			took += time.Since(began)
		}
	}
	if n := g.roll.Peers(); n != others {
		b.Fatalf("%d others count", n)
	}
	b.ReportMetric(took.Seconds()/float64(b.N)*100, "%cpu")
	b.ReportMetric(float64(link.sent)/float64(b.N)/1024, "KB/s")
}
