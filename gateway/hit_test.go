package gateway

import (
	"testing"

	"octet/routing"
	"octet/routing/index"
)

// Regret is lost / (novel + lost), over eligible candidates.
func TestRegretIsTheShareOfComputingThatAnotherWouldHaveSpared(t *testing.T) {
	trace := &routing.Trace{Candidates: []routing.CandidateTrace{{Host: 0, Replica: "a"}, {Host: 1, Replica: "b"},
		{Host: 2, Replica: "c", RemovedBy: "health"}}}
	for _, c := range []struct {
		pick   int
		want   Hit
		tokens int
	}{
		{0, Hit{Replica: "a", Chosen: 32, Best: 80, BestReplica: "b", Regret: 48. / 128}, 160},
		{1, Hit{Replica: "b", Chosen: 80, Best: 80, BestReplica: "b"}, 160},
		{0, Hit{Replica: "a", Chosen: 0, Best: 0, BestReplica: "a"}, 0},
	} {
		all, held := index.HostSet(0, 1, 2), pen{}
		held.hold(&[index.MaxHosts]uint16{2, 5, 9}, &all)
		l := legFacts{legRefs: &legRefs{size: 16}, tokens: c.tokens, pick: c.pick, held: held.take(held.readCount())}
		if got := l.hit(trace); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}
