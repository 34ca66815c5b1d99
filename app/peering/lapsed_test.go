package peering

import (
	"testing"
	"time"

	"octet/routing/peers"
)

// While the store is away a rate is cut into as many parts as there were gateways in the last view, or as there are at
// least. What fell silent just before the store was found to be away was there; what fell silent while others still
// spoke was not.
func TestARateIsCutByTheLastView(t *testing.T) {
	type at = func(time.Duration)
	type of = func(from string, came time.Duration)
	for name, one := range map[string]struct {
		count  int
		events func(hear of, look at)
		want   int
	}{
		"a start without the store":           {0, func(of, at) {}, 1},
		"a start without the store, of three": {3, func(of, at) {}, 3},
		"two others": {1, func(hear of, _ at) {
			hear("b", 0)
			hear("c", 0)
		}, 3},
		"one other, of three": {3, func(hear of, _ at) {
			hear("b", 0)
		}, 3},
		"all fell silent": {1, func(hear of, look at) {
			hear("b", -1100*time.Millisecond)
			hear("c", -1000*time.Millisecond)
			look(-50 * time.Millisecond)
			look(0)
		}, 3},
		"one died, and another spoke on": {1, func(hear of, look at) {
			hear("b", -1100*time.Millisecond)
			hear("c", -500*time.Millisecond)
			look(-50 * time.Millisecond)
			hear("c", -20*time.Millisecond)
		}, 2},
		"one died long ago": {1, func(hear of, look at) {
			hear("b", -9*time.Second)
			look(-7 * time.Second)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := oneReplica(t)
			told := 0
			g.cfg.Count, g.cfg.Divided = one.count, func(parts int) { told = parts }
			now := time.Now()
			tellers := map[string]*peers.Teller{}
			one.events(func(from string, after time.Duration) {
				if tellers[from] == nil {
					tellers[from] = peers.NewTeller(from, 1, time.Second)
				}
				tellers[from].Again()
				g.hear(tellers[from].Tell(nil, nil, now.Add(after)), now.Add(after))
			}, func(after time.Duration) { g.look(now.Add(after)) })
			g.Away(peers.ErrAway)
			if told != one.want {
				t.Errorf("into %d parts, not %d", told, one.want)
			}
			g.Away(peers.ErrAway)
			if g.look(now.Add(time.Minute)); told != one.want {
				t.Errorf("into %d parts later, not %d", told, one.want)
			}
			if g.Away(nil); told != 1 {
				t.Errorf("into %d parts with the store", told)
			}
		})
	}
}

// A gateway's lease counts from when its message came, not from when it is read: what waited to be read keeps nothing
// of a gateway that died.
func TestALeaseCountsFromWhenTheMessageCame(t *testing.T) {
	g, r := oneReplica(t)
	now, b := time.Now(), peers.NewTeller("b", 1, time.Second)
	work := map[uint64]peers.Work{r.Key: {Running: 1, Blocks: 1}}
	g.hear(b.Tell(work, nil, now), now)
	b.Again()
	late := b.Tell(work, nil, now)
	g.hear(late, now.Add(100*time.Millisecond)) // read whenever
	if g.look(now.Add(1050 * time.Millisecond)); r.Fleet.Others().Running != 1 {
		t.Error("it counts no more within its lease")
	}
	if g.look(now.Add(1100 * time.Millisecond)); r.Fleet.Others().Running != 0 {
		t.Error("it counts after its lease")
	}
}
