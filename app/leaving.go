package app

import (
	"slices"
	"sync"

	"octet/gateway/ensemble"
)

// leaving are the replicas that a reload has taken out while requests were open there, which end where they are.
type leaving struct {
	mu  sync.Mutex
	all []*ensemble.Replica // guarded by mu
}

// add takes a replica that has no place in the newest generation.
func (l *leaving) add(r *ensemble.Replica) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(slices.DeleteFunc(l.all, idle), r)
}

// open returns those with requests, the last to leave last.
func (l *leaving) open() []*ensemble.Replica {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = slices.DeleteFunc(l.all, idle)
	return slices.Clone(l.all)
}

// idle reports whether no request is at a replica.
func idle(r *ensemble.Replica) bool {
	s := r.Gate.Stats()
	return s.Running+s.Waiting == 0
}
