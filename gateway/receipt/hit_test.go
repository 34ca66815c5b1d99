package receipt

import (
	"testing"

	"octet/routing/index"
)

// Regret is lost / (novel + lost), over eligible candidates.
func TestRegretIsTheShareOfComputingThatAnotherWouldHaveSpared(t *testing.T) {
	eligible := index.HostSet(0, 1) // c has been removed
	p := Pipeline{BlockSize: 16, Names: &Names{"a", "b", "c"}, Depths: &[index.MaxHosts]uint16{2, 5, 9}}
	for _, c := range []struct {
		pick   index.HostID
		want   Hit
		tokens int
	}{
		{0, Hit{Replica: "a", Chosen: 32, Best: 80, BestReplica: "b", Regret: 48. / 128}, 160},
		{1, Hit{Replica: "b", Chosen: 80, Best: 80, BestReplica: "b"}, 160},
		{0, Hit{Replica: "a", Chosen: 0, Best: 0, BestReplica: "a"}, 0},
	} {
		if got := p.hit(&eligible, c.pick, c.tokens); got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}
