package plugins

import "octet/routing"

// best sorts the keep entries with the largest keys to the front, equals in the order given, and returns them. key is
// asked once for each entry. O(n) for a short ranking, without an allocation for one of up to 16.
func best(scored []routing.Scored, keep int, key func(i int, s routing.Scored) float64) []routing.Scored {
	var buf [16]float64
	keys := buf[:0]
	for i, s := range scored {
		k := key(i, s)
		at := len(keys)
		for at > 0 && keys[at-1] < k {
			at--
		}
		if at == keep {
			continue
		}
		if len(keys) < keep {
			keys = append(keys, 0)
		}
		copy(keys[at+1:], keys[at:])
		copy(scored[at+1:len(keys)], scored[at:len(keys)-1])
		keys[at], scored[at] = k, s
	}
	return scored[:len(keys)]
}
