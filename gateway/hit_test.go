package gateway

import (
	"testing"

	"octet/routing"
	"octet/routing/index"
)

// Regret is lost / (novel + lost), over eligible candidates.
func TestRegretIsTheShareOfComputingThatAnotherWouldHaveSpared(t *testing.T) {
	held := map[index.HostID]int{0: 2, 1: 5, 2: 9} // blocks of 16 tokens
	x := &exchange{sp: &Specialist{BlockSize: 16, Predicted: func(_ routing.View, h index.HostID) int { return held[h] }}}
	x.prompt.Tokens = 160
	x.route = routing.Acquire(routing.Facts{})
	defer x.route.Release()
	trace := &routing.Trace{Candidates: []routing.CandidateTrace{{Host: 0, Replica: "a"}, {Host: 1, Replica: "b"}, {Host: 2, Replica: "c", RemovedBy: "health"}}}
	for _, c := range []struct {
		pick   index.HostID
		want   Hit
		tokens int
	}{
		{0, Hit{Replica: "a", Chosen: 32, Best: 80, BestReplica: "b", Regret: 48. / 128}, 160},
		{1, Hit{Replica: "b", Chosen: 80, Best: 80, BestReplica: "b"}, 160},
		{0, Hit{Replica: "a", Chosen: 0, Best: 0, BestReplica: "a"}, 0},
	} {
		x.prompt.Tokens = c.tokens
		if got := x.hit(trace, c.pick); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}
