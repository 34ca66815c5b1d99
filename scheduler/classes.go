package scheduler

import "slices"

// classes counts who is queued by priority, most urgent first, so that a position in the queue costs a few additions.
type classes []class

type class struct {
	priority int
	count    int
}

func (c *classes) add(priority, n int) {
	i, ok := slices.BinarySearchFunc(*c, priority, func(a class, p int) int { return p - a.priority })
	if !ok {
		*c = slices.Insert(*c, i, class{priority: priority})
	}
	if (*c)[i].count += n; (*c)[i].count == 0 {
		*c = slices.Delete(*c, i, i+1)
	}
}

// ahead returns how many are at least as urgent as priority.
func (c classes) ahead(priority int) (n int) {
	for _, k := range c {
		if k.priority < priority {
			break
		}
		n += k.count
	}
	return n
}
