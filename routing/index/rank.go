package index

import "slices"

// Ranked is a replica and how many leading blocks of the query's chain it holds.
type Ranked struct {
	Host  HostID
	Depth uint16 // blocks
}

// Rank appends the hosts of among to dst, best first: the deeper before the shallower, of equals the lowest host first.
// Hosts of depth 0 are in it, last. It allocates only when dst is too short.
func Rank(depths *[MaxHosts]uint16, among HostBitmap, dst []Ranked) []Ranked {
	from := len(dst)
	for h := range among.All() {
		dst = append(dst, Ranked{h, depths[h]})
	}
	slices.SortFunc(dst[from:], func(a, b Ranked) int {
		if a.Depth != b.Depth {
			return int(b.Depth) - int(a.Depth)
		}
		return int(a.Host) - int(b.Host)
	})
	return dst
}
