package plugins

import "octet/routing"

// keepDefault is how many of a ranking are kept: more than any retry budget asks for, few enough to rank 256 replicas
// at once.
const keepDefault = 8

// keepParam: keep (default 8) is how many replicas the picker ranks; retries go no further.
func keepParam(p *routing.Params) int { return p.Int("keep", keepDefault, 1, 1<<16) }

// maxScore ranks by score, equals by host.
type maxScore struct {
	named
	keep int
}

// newMaxScore: keep (default 8) is how many replicas are ranked; retries go no further.
func newMaxScore(Deps) routing.Factory {
	return func(p *routing.Params) routing.Plugin { return &maxScore{named{"max-score", nil}, keepParam(p)} }
}

// Pick implements routing.Picker. It keeps the best seen so far, sorted, at the front of scored: O(n) for a short
// ranking, and a later equal stays behind, so that equals come lowest host first.
func (m *maxScore) Pick(_ routing.View, scored []routing.Scored) []routing.Scored {
	kept := 0
	for _, s := range scored {
		at := kept
		for at > 0 && scored[at-1].Score < s.Score {
			at--
		}
		if at == m.keep {
			continue
		}
		kept = min(kept+1, m.keep)
		if at+1 < kept {
			copy(scored[at+1:kept], scored[at:kept-1])
		}
		scored[at] = s
	}
	return scored[:kept]
}
