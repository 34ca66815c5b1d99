package peering

import (
	"time"

	"octet/routing/peers/peerspb"
	"octet/scheduler/gate"
)

// firstsEvery is how often it is told how long a first token took at a replica, at most.
const firstsEvery = 10 * Every

// Bounds of what is heard of one first token.
const (
	mostTokens   = 1 << 30
	longestFirst = time.Hour
)

// firsts returns how long first tokens took here since the last call, where telling them is due: the last one at
// each replica. By these each gateway knows engines as well as if all requests had come in there.
func (g *Group) firsts(now time.Time) (told []*peerspb.First) {
	g.mu.Lock()
	due := now.Sub(g.measured) >= firstsEvery
	if due {
		g.measured = now
	}
	g.mu.Unlock()
	if !due {
		return nil
	}
	served := g.replicas.Load()
	for i := range served.list {
		r := &served.list[i]
		if f, news := r.Gate.LastFirst(); news {
			told = append(told, &peerspb.First{Replica: r.Key, Uncached: uint64(max(f.Uncached, 0)),
				Others: uint64(max(f.Others, 0)), TookUs: uint64(max(f.Took, 0).Microseconds()),
				ExpectedUs: uint64(max(f.Expected, 0).Microseconds()), Trial: f.Trial})
		}
	}
	return told
}

// hearFirsts counts what another gateway has measured of the replicas.
func (s *replicas) hearFirsts(told []*peerspb.First) {
	for _, m := range told {
		f := gate.First{Uncached: int(min(m.GetUncached(), mostTokens)), Others: int(min(m.GetOthers(), mostTokens)),
			Took: first(m.GetTookUs()), Expected: first(m.GetExpectedUs()), Trial: m.GetTrial()}
		for _, r := range s.at[m.GetReplica()] {
			r.Gate.FirstElsewhere(f)
		}
	}
}

// first returns the time that so many microseconds until a first token are, within bounds.
func first(us uint64) time.Duration {
	return time.Duration(min(us, uint64(longestFirst.Microseconds()))) * time.Microsecond
}
