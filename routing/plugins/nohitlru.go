package plugins

import (
	"slices"
	"sync"

	"octet/routing"
	"octet/routing/index"
)

// noHitLRU spreads requests that no candidate holds anything of: 1 for a replica that never had one, then less the
// later it had its last, down to 0. A request with a hit at any candidate scores 0.5 everywhere.
type noHitLRU struct {
	named
	colds *colds
}

// colds is when each replica had its last cold request.
type colds struct {
	mu    sync.Mutex
	count uint64                // guarded by mu
	last  [index.MaxHosts]stamp // guarded by mu
}

type stamp struct {
	replica uint64 // its Key; a slot that another replica has by now never had a request
	at      uint64 // 0 is never
}

func newNoHitLRU(Deps) routing.Factory {
	return func(*routing.Params) routing.Plugin {
		return noHitLRU{named{"no-hit-lru", reads(Fleet, Depths)}, new(colds)}
	}
}

// Score implements routing.Scorer.
func (s noHitLRU) Score(v routing.View, hosts []index.HostID, out []float64) {
	if !cold(v) {
		fill(out, 0.5)
		return
	}
	var buf [index.MaxHosts]uint64
	ats := s.times(v, hosts, buf[:0])
	var order [index.MaxHosts]uint64
	used := append(order[:0], ats...)
	slices.Sort(used)
	used = slices.Compact(used)
	for i, at := range ats {
		rank, _ := slices.BinarySearch(used, at)
		out[i] = 1
		if len(used) > 1 {
			out[i] = 1 - float64(rank)/float64(len(used)-1)
		}
	}
}

func (s noHitLRU) times(v routing.View, hosts []index.HostID, ats []uint64) []uint64 {
	replicas := Fleet.Get(v)
	s.colds.mu.Lock()
	defer s.colds.mu.Unlock()
	for _, h := range hosts {
		at := uint64(0)
		if last := s.colds.last[h]; last.replica == replicas.Replica(h).Key() {
			at = last.at
		}
		ats = append(ats, at)
	}
	return ats
}

// Learn implements routing.Learner.
func (s noHitLRU) Learn(v routing.View, picked index.HostID) {
	if !cold(v) {
		return
	}
	s.colds.mu.Lock()
	defer s.colds.mu.Unlock()
	s.colds.count++
	s.colds.last[picked] = stamp{Fleet.Get(v).Replica(picked).Key(), s.colds.count}
}

// cold returns true if no candidate holds anything of the prompt.
func cold(v routing.View) bool {
	depths := Depths.Get(v)
	if depths == nil {
		return true
	}
	for h := range v.Candidates().All() {
		if depths[h] > 0 {
			return false
		}
	}
	return true
}
