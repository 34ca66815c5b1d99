package api

import (
	"cmp"
	"slices"

	"octet/gateway/ensemble"
)

// Queued counts the requests that wait at one priority, as age has lifted it. A list of them has the highest first.
type Queued struct {
	Priority int `json:"priority"`
	Waiting  int `json:"waiting"`
}

func queuedAt(rep *ensemble.Replica) (list []Queued) {
	for _, l := range rep.Gate.Levels() {
		list = append(list, Queued(l))
	}
	return list
}

// addQueued adds the counts of more to those of list.
func addQueued(list, more []Queued) []Queued {
	for _, q := range more {
		at, found := slices.BinarySearchFunc(list, q, func(a, b Queued) int {
			return cmp.Compare(b.Priority, a.Priority)
		})
		if found {
			list[at].Waiting += q.Waiting
		} else {
			list = slices.Insert(list, at, q)
		}
	}
	return list
}
